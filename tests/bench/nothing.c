/* What a launch is measured with: a static program that ends at once. */
int main(void)
{
    return 0;
}
