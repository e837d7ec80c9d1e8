/* What the owner answers: names, spawn, and where all ranks are; in both dialects. */
#include "tests/unit/pmi-node.h"

#include "base/mem.h"

#define HELLO2 "cmd=init pmi_version=2 pmi_subversion=0\n"

/* An owner that writes down what it is asked, and answers when it is told to, or at once. */
static struct {
    struct pmi_request *request;
    struct buf asked;
    bool at_once;
} owner;

static const int codes[] = {0, 0, 7};

static void answer_spawn(bool good)
{
    struct pmi_spawned spawned = {.rc = !good,
                                  .job = good ? "kvs_7_1" : NULL,
                                  .why = good ? NULL : "no such program",
                                  .errcodes = codes,
                                  .nerrcodes = 3};
    pmi_request_spawned(owner.request, &spawned);
}

static void on_name(void *arg, struct pmi_request *request, enum pmi_name name, const char *service,
                    const char *port)
{
    static const char *const names[] = {"publish", "unpublish", "lookup"};
    assert_ptr_equal(pmi_connection_data(pmi_request_client(request)), arg);
    owner.request = request;
    buf_printf(&owner.asked, "%s <%s> <%s>\n", names[name], service, port ? port : "-");
    if (owner.at_once)
        pmi_request_named(request, true, name == PMI_NAME_LOOKUP ? "p#1" : NULL);
}

static void on_spawn(void *arg, struct pmi_request *request, const struct spawn_request *spawn)
{
    (void)arg;
    owner.request = request;
    for (size_t i = 0; i < spawn->preputs.count; i++)
        buf_printf(&owner.asked, "preput <%s> <%s>\n", spawn->preputs.list[i].key,
                   spawn->preputs.list[i].value);
    for (size_t i = 0; i < spawn->nblocks; i++) {
        const struct spawn_request_block *block = &spawn->blocks[i];
        buf_printf(&owner.asked, "%u:", block->maxprocs);
        for (char **arg_at = block->argv; *arg_at; arg_at++)
            buf_printf(&owner.asked, " <%s>", *arg_at);
        for (size_t k = 0; k < block->infos.count; k++)
            buf_printf(&owner.asked, " %s=<%s>", block->infos.list[k].key,
                       block->infos.list[k].value);
        buf_add_char(&owner.asked, '\n');
    }
    if (owner.at_once)
        answer_spawn(true);
}

static void on_value(void *arg, struct pmi_request *request, const char *key)
{
    assert_ptr_equal(pmi_connection_data(pmi_request_client(request)), arg);
    owner.request = request;
    buf_printf(&owner.asked, "value <%s>\n", key);
    if (owner.at_once)
        pmi_request_value(request, "/a b;c");
}

static uint32_t node_of(void *arg, uint32_t rank)
{
    (void)arg;
    return rank % 2;
}

static const char *host_of(void *arg, uint32_t node)
{
    (void)arg;
    return node ? "n1" : "node0";
}

static const struct pmi_ops asking_ops = {.exchange = on_exchange,
                                          .abort = on_abort,
                                          .output = on_output,
                                          .broken = on_broken,
                                          .name = on_name,
                                          .spawn = on_spawn,
                                          .value = on_value,
                                          .node_of = node_of,
                                          .host_of = host_of};

static struct node *asking_node(bool at_once, uint32_t nlocal)
{
    struct node *node = calloc(1, sizeof(*node));
    assert_non_null(node);
    owner.at_once = at_once;
    owner.request = NULL;
    buf_clear(&owner.asked);
    node->kvs = kvs_new("kvs_7");
    struct pmi_config config = {.size = 4,
                                .universe_size = -1,
                                .nlocal = nlocal,
                                .kvs = node->kvs,
                                .dialects = dialects_of(true, true)};
    node->server = pmi_server_new(&config, &asking_ops, node);
    for (uint32_t i = 0; i < nlocal; i++)
        node->clients[i] = pmi_connection_new(node->server, i, 0, node);
    return node;
}

static void greet2(struct node *node, int client)
{
    say(node, client, HELLO2);
    say_frame(node, client, "cmd=fullinit;pmirank=0;");
    buf_clear(pmi_connection_output(node->clients[client]));
}

static const struct {
    const char *said, *asked, *heard, *refused;
} names1[] = {
    {"cmd=publish_name service=svc port=tag#0$x\n", "publish <svc> <tag#0$x>\n",
     "cmd=publish_result info=ok rc=0 msg=success\n",
     "cmd=publish_result info=ok rc=1 msg=key_already_present\n"},
    {"cmd=publish_name service=svc one port=\n", "publish <svc> <>\n",
     "cmd=publish_result info=ok rc=0 msg=success\n",
     "cmd=publish_result info=ok rc=1 msg=key_already_present\n"},
    {"cmd=unpublish_name service=svc\n", "unpublish <svc> <->\n",
     "cmd=unpublish_result info=ok rc=0 msg=success\n",
     "cmd=unpublish_result info=ok rc=1 msg=service_not_found\n"},
    {"cmd=lookup_name service=svc\n", "lookup <svc> <->\n",
     "cmd=lookup_result port=p#1 info=ok rc=0 msg=success\n",
     "cmd=lookup_result info=ok rc=1 msg=service_not_found\n"},
};

static const struct {
    const char *said, *asked, *heard, *refused;
} names2[] = {
    {"cmd=name-publish;name=svc one;port=a;;b;infokeycount=0;", "publish <svc one> <a;b>\n",
     "cmd=name-publish-response;rc=0;",
     "cmd=name-publish-response;rc=14;errmsg=key_already_present;"},
    {"cmd=name-unpublish;thrid=5;name=svc;infokeycount=0;", "unpublish <svc> <->\n",
     "cmd=name-unpublish-response;thrid=5;rc=0;",
     "cmd=name-unpublish-response;thrid=5;rc=14;errmsg=service_not_found;"},
    {"cmd=name-lookup;name=svc;infokeycount=0;", "lookup <svc> <->\n",
     "cmd=name-lookup-response;found=TRUE;value=p#1;port=p#1;rc=0;",
     "cmd=name-lookup-response;found=FALSE;rc=14;errmsg=service_not_found;"},
};

static void test_names_are_the_owners_in_pmi_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names1) / sizeof(names1[0]); i++) {
        struct node *node = asking_node(true, 1);
        say(node, 0, INIT);
        hear(node, 0, INIT_OK);
        say(node, 0, names1[i].said);
        assert_string_equal(buf_text(&owner.asked), names1[i].asked);
        hear(node, 0, names1[i].heard);
        owner.at_once = false;
        say(node, 0, names1[i].said);
        say(node, 0, "cmd=get_appnum\n"); /* waits for the answer */
        hear(node, 0, "");
        node->nnews = 0;
        pmi_request_named(owner.request, false, NULL);
        assert_int_equal(node->nnews, 1);
        char *both = mem_format("%scmd=appnum appnum=0\n", names1[i].refused);
        hear(node, 0, both);
        free(both);
        node_free(node);
    }
}

static void test_names_are_the_owners_in_pmi_2(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names2) / sizeof(names2[0]); i++) {
        struct node *node = asking_node(true, 1);
        greet2(node, 0);
        say_frame(node, 0, names2[i].said);
        assert_string_equal(buf_text(&owner.asked), names2[i].asked);
        hear_frame(node, 0, names2[i].heard);
        owner.at_once = false;
        say_frame(node, 0, names2[i].said);
        hear_frame(node, 0, "");
        pmi_request_named(owner.request, false, NULL);
        hear_frame(node, 0, names2[i].refused);
        node_free(node);
    }
}

#define GET "cmd=get kvsname=kvs_7 key="
#define NOT_FOUND "cmd=get_result rc=-1 msg=key_PMI_x_not_found value=unknown\n"

static void test_values_that_nobody_put_are_the_owners_in_pmi_1(void **state)
{
    (void)state;
    struct node *node = asking_node(true, 1);
    say(node, 0, INIT GET "PMI_x\n");
    assert_string_equal(buf_text(&owner.asked), "value <PMI_x>\n");
    hear(node, 0, INIT_OK GOT "/a b;c\n");
    owner.at_once = false;
    say(node, 0, GET "PMI_x\ncmd=get_appnum\n"); /* the second waits for the first */
    hear(node, 0, "");
    pmi_request_value(owner.request, NULL);
    hear(node, 0, NOT_FOUND "cmd=appnum appnum=0\n");
    say(node, 0, GET "PMI_x\n");
    pmi_request_value(owner.request, "a\nb");
    hear(node, 0, "cmd=get_result rc=-1 msg=value_has_a_newline value=unknown\n");
    buf_clear(&owner.asked);
    say(node, 0, "cmd=put key=PMI_x value=put\n" GET "PMI_x\n" GET "other\n");
    hear(node, 0, PUT_OK GOT "put\ncmd=get_result rc=-1 msg=key_other_not_found value=unknown\n");
    assert_int_equal(owner.asked.len, 0);
    node_free(node);
}

static void test_values_that_nobody_put_are_the_owners_in_pmi_2(void **state)
{
    (void)state;
    struct node *node = asking_node(true, 1);
    greet2(node, 0);
    say_frame(node, 0, "cmd=kvs-get;jobid=kvs_7;key=PMI_x;");
    assert_string_equal(buf_text(&owner.asked), "value <PMI_x>\n");
    hear_frame(node, 0, "cmd=kvs-get-response;found=TRUE;value=/a b;;c;rc=0;");
    owner.at_once = false;
    say_frame(node, 0, "cmd=info-getjobattr;thrid=4;key=PMI_x;");
    struct pmi_request *first = owner.request;
    say_frame(node, 0, "cmd=kvs-get;thrid=5;key=PMI_y;"); /* another thread's */
    hear_frame(node, 0, "");
    pmi_request_value(owner.request, NULL);
    hear_frame(node, 0, "cmd=kvs-get-response;thrid=5;found=FALSE;rc=0;");
    pmi_request_value(first, "v");
    hear_frame(node, 0, "cmd=info-getjobattr-response;thrid=4;found=TRUE;value=v;rc=0;");
    say_frame(node, 0, "cmd=kvs-get;thrid=6;key=PMI_x;");
    node_free(node); /* one is still open */
}

static void test_a_port_with_spaces_is_none_for_pmi_1(void **state)
{
    (void)state;
    struct node *node = asking_node(false, 1);
    say(node, 0, INIT "cmd=lookup_name service=svc\n");
    pmi_request_named(owner.request, true, "a b");
    hear(node, 0, INIT_OK "cmd=lookup_result info=ok rc=1 msg=value_has_spaces\n");
    node_free(node);
}

static void test_a_request_without_its_fields_is_refused(void **state)
{
    (void)state;
    struct node *node = asking_node(true, 2);
    struct error err = ERROR_INIT;
    say(node, 0, INIT);
    assert_int_equal(
        pmi_connection_input(node->clients[0], "cmd=publish_name service=svc\n", 29, &err), -1);
    assert_string_equal(error_text(&err),
                        "no port= in a PMI-1 request: \"cmd=publish_name service=svc\"");
    greet2(node, 1);
    say_frame(node, 1, "cmd=name-publish;name=svc;");
    hear_frame(node, 1, "cmd=name-publish-response;rc=3;errmsg=no port= in the request;");
    error_clear(&err);
    node_free(node);
}

static void test_an_answer_may_come_after_the_client_went(void **state)
{
    (void)state;
    struct node *node = asking_node(false, 2);
    say(node, 0, INIT "cmd=lookup_name service=svc\n");
    say(node, 1, INIT "cmd=lookup_name service=svc\n");
    pmi_server_connection_gone(node->clients[1]);
    pmi_request_named(owner.request, true, "x");
    node_free(node); /* one is still open */
}

#define BLOCK(total, sofar)                                                                        \
    "mcmd=spawn\nnprocs=2\nexecname=/path/prog\ntotspawns=" #total "\nspawnssofar=" #sofar "\n"

static void test_spawn_is_asked_whole_in_pmi_1(void **state)
{
    (void)state;
    struct node *node = asking_node(false, 1);
    say(node, 0, INIT);
    hear(node, 0, INIT_OK);
    say(node, 0,
        BLOCK(2, 1) "arg1=-x\narg2=a b\narg3=x=y\narg4=\nargcnt=4\npreput_num=1\n"
                    "preput_key_0=PORT\npreput_val_0=tag#0$ a=b\n"
                    "info_num=2\ninfo_key_0=wdir\ninfo_val_0=/tmp\ninfo_key_1=host\ninfo_val_1=\n"
                    "endcmd\n" BLOCK(2, 2) "preput_num=2\npreput_key_0=PORT\npreput_val_0=again\n"
                                           "preput_key_1=more\npreput_val_1=1\nendcmd\n"
                                           "cmd=get_appnum\n");
    assert_string_equal(buf_text(&owner.asked),
                        "preput <PORT> <tag#0$ a=b>\npreput <more> <1>\n"
                        "2: </path/prog> <-x> <a b> <x=y> <> wdir=</tmp> host=<>\n"
                        "2: </path/prog>\n");
    hear(node, 0, "");
    answer_spawn(true);
    hear(node, 0, "cmd=spawn_result rc=0 errcodes=0,0,7\ncmd=appnum appnum=0\n");
    owner.at_once = true;
    say(node, 0, BLOCK(1, 1) "endcmd\n" BLOCK(1, 1) "endcmd\n");
    hear(node, 0, "cmd=spawn_result rc=0 errcodes=0,0,7\ncmd=spawn_result rc=0 errcodes=0,0,7\n");
    owner.at_once = false;
    say(node, 0, BLOCK(1, 1) "endcmd\n");
    answer_spawn(false);
    hear(node, 0, "cmd=spawn_result rc=1 errcodes=0,0,7\n");
    say(node, 0, BLOCK(2, 1) "arg1=kept\nendcmd\n"); /* half of one is freed with the client */
    node_free(node);
}

static void test_spawn_is_asked_whole_in_pmi_2(void **state)
{
    (void)state;
    struct node *node = asking_node(false, 1);
    greet2(node, 0);
    say_frame(node, 0,
              "cmd=spawn;thrid=3;ncmds=2;preputcount=1;ppkey0=PORT;ppval0=tag;;0 a=b;"
              "subcmd=/path/prog;maxprocs=2;argc=3;argv0=a b;argv1=;argv2=x=;;y;"
              "infokeycount=1;infokey0=wdir;infoval0=/tmp;subcmd=other;maxprocs=1;argc=0;");
    assert_string_equal(buf_text(&owner.asked), "preput <PORT> <tag;0 a=b>\n"
                                                "2: </path/prog> <a b> <> <x=;y> wdir=</tmp>\n"
                                                "1: <other>\n");
    say_frame(node, 0, "cmd=job-getid;"); /* another thread's */
    hear_frame(node, 0, "cmd=job-getid-response;jobid=kvs_7;rc=0;");
    answer_spawn(true);
    hear_frame(node, 0, "cmd=spawn-response;thrid=3;jobid=kvs_7_1;nerrs=3;errcodes=0,0,7;rc=0;");
    say_frame(node, 0, "cmd=spawn;ncmds=1;subcmd=other;maxprocs=1;");
    answer_spawn(false);
    hear_frame(node, 0, "cmd=spawn-response;nerrs=3;errcodes=0,0,7;rc=14;errmsg=no such program;");
    node_free(node);
}

static void test_a_bad_spawn_of_pmi_2_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *why;
    } bad[] = {
        {"ncmds=1;", "ncmds is wrong"},
        {"ncmds=2;subcmd=a;", "ncmds is wrong"},
        {"ncmds=x;subcmd=a;", "a bad ncmds in a spawn request"},
        {"subcmd=;", "a bad subcmd in a spawn request"},
        {"subcmd=a;maxprocs=0;", "a bad maxprocs in a spawn request"},
        {"maxprocs=1;subcmd=a;", "a bad maxprocs in a spawn request"},
        {"argv0=x;subcmd=a;", "a bad argv0 in a spawn request"},
        {"subcmd=a;argc=2;argv0=x;", "argc or infokeycount is wrong"},
        {"subcmd=a;argc=1;subcmd=b;", "argc or infokeycount is wrong"},
        {"subcmd=a;infokeycount=1;infokey0=k;", "argc or infokeycount is wrong"},
        {"subcmd=a;infokey0=k;infokey1=l;", "a bad infokey1 in a spawn request"},
        {"subcmd=a;infoval0=k;", "a bad infoval0 in a spawn request"},
        {"infokey0=k;infoval0=v;subcmd=a;", "a bad infoval0 in a spawn request"},
        {"preputcount=1;subcmd=a;", "preputcount is wrong"},
        {"ppval0=x;subcmd=a;", "a bad ppval0 in a spawn request"},
        {"preputcount=-1;subcmd=a;", "a bad preputcount in a spawn request"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct node *node = asking_node(true, 1);
        greet2(node, 0);
        char *body = mem_format("cmd=spawn;%s", bad[i].fields);
        char *reply = mem_format("cmd=spawn-response;rc=3;errmsg=%s;", bad[i].why);
        say_frame(node, 0, body);
        hear_frame(node, 0, reply);
        free(body);
        free(reply);
        node_free(node);
    }
}

static void test_error_codes_that_do_not_fit_are_left_out(void **state)
{
    (void)state;
    static int many[600];
    struct pmi_spawned spawned = {.job = "j", .errcodes = many, .nerrcodes = 600};
    struct node *node = asking_node(false, 2);
    say(node, 0, INIT BLOCK(1, 1) "endcmd\n");
    pmi_request_spawned(owner.request, &spawned);
    hear(node, 0, INIT_OK "cmd=spawn_result rc=0\n");
    greet2(node, 1);
    say_frame(node, 1, "cmd=spawn;subcmd=a;");
    pmi_request_spawned(owner.request, &spawned);
    hear_frame(node, 1, "cmd=spawn-response;jobid=j;nerrs=600;rc=0;");
    node_free(node);
}

static void test_a_spawn_has_a_limit(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct node *node = asking_node(true, 1);
    int rc = 0;
    say(node, 0, INIT "mcmd=spawn\n");
    for (int i = 0; i < 200000 && !rc; i++)
        rc = pmi_connection_input(node->clients[0], "arg1=0123456789\n", 16, &err);
    assert_int_equal(rc, -1);
    assert_string_equal(error_text(&err), "a spawn request of more than 1048576 bytes");
    error_clear(&err);
    node_free(node);
}

static void test_a_rank_is_told_with_its_host(void **state)
{
    (void)state;
    struct node *node = asking_node(true, 1);
    say(node, 0, INIT "cmd=get_ranks2hosts\n");
    hear(node, 0, INIT_OK "cmd=put_ranks2hosts 25 2\n5 node0 0,2, 2 n1 1,3, \n");
    node_free(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_the_owners_in_pmi_1),
        cmocka_unit_test(test_names_are_the_owners_in_pmi_2),
        cmocka_unit_test(test_values_that_nobody_put_are_the_owners_in_pmi_1),
        cmocka_unit_test(test_values_that_nobody_put_are_the_owners_in_pmi_2),
        cmocka_unit_test(test_a_port_with_spaces_is_none_for_pmi_1),
        cmocka_unit_test(test_a_request_without_its_fields_is_refused),
        cmocka_unit_test(test_an_answer_may_come_after_the_client_went),
        cmocka_unit_test(test_spawn_is_asked_whole_in_pmi_1),
        cmocka_unit_test(test_spawn_is_asked_whole_in_pmi_2),
        cmocka_unit_test(test_a_bad_spawn_of_pmi_2_is_refused),
        cmocka_unit_test(test_error_codes_that_do_not_fit_are_left_out),
        cmocka_unit_test(test_a_spawn_has_a_limit),
        cmocka_unit_test(test_a_rank_is_told_with_its_host),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    buf_free(&owner.asked);
    return rc;
}
