# shellcheck shell=bash
# What tests/openpmix/suite runs. A row is
#     row NODES TASKS STATUS "PROGRAM OPTIONS" SAYS...
# NODES: on 1, 2 and 4 of them. STATUS: tprun's. SAYS: what tells that it passed, as the program's
# source has it: "COUNT REGEX" is how many lines match (COUNT may name n, the tasks), "but REGEX" are
# lines that are right though they speak of a failure; any other that speaks of a failure or an error
# is one.
#     never "PROGRAM OPTIONS" HOW REASON
# is one that cannot pass for a reason of its own. HOW that shows: "own STATUS [TEXT]", what becomes of
# it under openpmix's own server, or "source FILE TEXT", what it has in its source.

# Where sources of 4.2, 5 and 6 differ, `major` tells them apart.

done_well='PMIx_Finalize successfully completed'
major=$(pkg-config --modversion pmix) major=${major%%.*}

if [ "$major" -ge 5 ]; then
    row '1 2 4' 4 0 doubleget '2*n obtained data for test-key-[01]' '1 PMIx finalized'
else
    row '1 2 4' 4 0 doubleget 'n obtained data "SECOND TIME rank [01]"'
fi
never 'doubleget --wait' 'source test/simple/doubleget.c sleep(2);' \
    'puts a key after 2 s, which is as long as openpmix waits for one'
never 'doubleget --refresh' 'source test/simple/doubleget.c PMIX_GET_REFRESH_CACHE' \
    'asks for a key that may not have been put yet, and not to wait for it'
never 'doubleget --timeout' 'source test/simple/doubleget.c if (pvalue->type != PMIX_BYTE_OBJECT)' \
    'reads the value of a PMIx_Get that is meant to fail'
row '1 2 4' 4 0 get_put_example 'n Get complete and successful'
row '1 2' 4 0 hybrid 'n Test completed' 'n Entered parallel_region_OMP_cb' 'n Entered parallel_region_MPI_cb'
if [ "$major" -ge 7 ]; then
    row '1 2' 4 0 simpcycle 'n completed 25 init/finalize cycles OK'
else
    row '1 2' 4 0 simpcycle "2*n $done_well"
fi
# Before 7 it takes the timeout that it asks for to be none ("==" for "!="), and does not disconnect.
row '1 2' 4 0 simptimeout '1 FENCE TIMEOUT SUCCEEDED' '1 \bCONNECT TIMEOUT SUCCEEDED' \
    "$((major >= 7)) DISCONNECT TIMEOUT SUCCEEDED" '1 PMIx_Get did not timeout: TIMEOUT|GET TIMEOUT SUCCEEDED' "n $done_well"
row '1 2' 4 0 simpio '1 Rank 0: read 20000 bytes' "n $done_well"
row '1 2 4' 4 0 simppub 'n-1 PUBLISH-LOOKUP SUCCEEDED' '1 UNPUBLISH SUCCEEDED' "n $done_well"
row '1 2' 4 0 simpjctrl '2*n Callback recvd with status 0' "n $done_well"
never simpdyn 'own 124 calling PMIx_Spawn' 'its ranks call PMIx_Connect with different sets of processes'
row '1 2' 4 1 '--on-failure=continue simpdie 0' 'n-1 Fence returned' \
    'n-1 NOTIFIED with status PROC-(ABORTED|TERM)' "n-1 $done_well" 'but .'
row '1 2' 4 1 '--on-failure=continue simpdie 1' '1 bye-bye' "n-1 $done_well" 'but .'
# All are ended: its own server does the same.
row '1 2' 4 227 simpft '1 rank 0 on .* aborted the program with code 227' 'but .'
# What it can get of another node it calls a failure.
row 1 4 0 simpclient "n $done_well" 'n test log msg' 'but CREDENTIAL failed'
row 1 4 248 'simpclient -abort' '1 rank 0 on .* aborted the program with code' 'but .'
# Without it puts a key after 2 s, which is as long as openpmix waits for one.
row 1 4 0 'simpdmodex --sleep 1' 'n*n Get_nb Key .*-local returned correctly' 'but .'
# From 5 on a host has one scheduler, and each task of this program starts one.
row 1 "$((major < 5 ? 4 : 1))" 0 simpfabric 'n Test finished OK!'
never simpcoord 'own 0 fabric coordinate failed: NOT-FOUND' 'wants coordinates in a fabric, which its own server has not either'
never quietclient 'own 139 exited with status 139' 'crashes'

if [ "$major" -ge 5 ]; then
    row '1 2' 4 0 example-hello 'n Query returned [1-9]' 'n Running on host'
else
    row '1 2' 4 0 example-hello 'n Query returned [1-9]' "n $done_well"
fi
row '1 2 4' 4 0 example-client 'n*n PMIx_Get .*-(local|remote) returned correct' "n $done_well"
row '1 2' 4 0 example-client2 "n $done_well"
row '1 2 4' 4 0 example-dmodex "1 $done_well"
row '1 2' 4 0 example-nodeinfo '1 Host list' 'n Rank . is on host' 'but coordinates' "n $done_well"
row '1 2 4' 4 0 example-pub '[1-9]* PUBLISH-LOOKUP SUCCEEDED' "n $done_well"
row '1 2 4' 4 0 example-pubi '[1-9]* PUBLISH-LOOKUP SUCCEEDED' "n $done_well"
row '1 2' 4 0 example-jctrl "n $done_well"
row '1 2' 4 1 '--on-failure=continue example-fault' "n-1 $done_well" 'but .'
row '1 2 4' 4 0 example-group '3 Group construct complete with status SUCCESS' "n $done_well"
row '1 2' 4 0 example-asyncgroup '1 Group invite complete with status SUCCESS' 'n :[0-9]+ COMPLETE$'
row '1 2 4' 4 0 example-group_dmodex 'n Group construct complete with status SUCCESS' 'n COMPLETE'
if [ "$major" -ge 6 ]; then # it asks twice
    row '1 2 4' 4 0 example-group_lcl_cid '2*n*n PMIx_Get LOCAL CID .* SUCCESS' 'n COMPLETE'
else
    row '1 2 4' 4 0 example-group_lcl_cid 'n*n PMIx_Get LOCAL CID .* SUCCESS' 'n COMPLETE'
fi
if [ "$major" -ge 5 ]; then
    row '1 2' 4 0 example-dynamic 'n+2 job size [24]' '2 PMIx_Group_destruct GOOD' "n+2 $done_well"
else
    row '1 2' 4 0 example-dynamic '1 job .* size 2' '1 local rank' "n+2 $done_well"
fi
never example-alloc 'source examples/alloc.c PMIx_Allocation_request_nb' 'asks for an allocation, of which there is no more'
row 1 4 1 example-bad_exit '1 rank 0 on .* exited with status 1' 'but .'

row '1 2 4' 8 0 pmix_client 'n OK$'
row '1 2 4' 8 0 'pmix_client --job-fence' 'n OK$'
row '1 2 4' 8 0 'pmix_client --job-fence -c' 'n OK$'
row '1 2 4' 8 0 'pmix_client --job-fence -nb' 'n OK$'
row '1 2 4' 8 0 'pmix_client --job-fence -nb -c' 'n OK$'
row '1 2 4' 8 0 'pmix_client --fence [0:]' 'n OK$'
row '1 2 4' 8 0 'pmix_client --fence [db|0:][0:][b|0:]' 'n OK$'
row '1 2 4' 8 0 'pmix_client --fence [db|0:0-2][d|0:][b|0:1,3,6][db|0:7][0:0,7]' 'n OK$'
row '1 2 4' 8 0 'pmix_client --fence [d|0:] --noise [0:0,1]' 'n OK$'
row '1 2 4' 8 0 'pmix_client --test-publish' 'n OK$'
row '1 2 4' 8 0 'pmix_client --test-connect' 'n OK$'
never 'pmix_client --test-spawn' 'source test/test_spawn.c if (!PMIX_CHECK_NSPACE(nspace, "foobar"))' \
    "wants its own server's answer: a program \"foo\" as the namespace \"foobar\""
row 1 8 0 'pmix_client --test-resolve-peers' 'n OK$' # it takes all to be on this host
row '1 2 4' 8 0 'pmix_client --test-error' 'n OK$' 'but timeout errhandler called'
row '1 2 4' 8 0 'pmix_client --test-replace 100:0,1,10,50,99' 'n OK$'
row '1 2 4' 8 0 'pmix_client --test-internal 10' 'n OK$'
row '1 2' 4 1 'pmix_client --early-fail' '1 rank 0 on .*: exited with status 1' 'but .'
