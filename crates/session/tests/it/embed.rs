//! Tests that the example in docs/embedding.md works.

#[path = "../../examples/embed.rs"]
#[allow(dead_code, reason = "its main is for those who start it by hand")]
mod example;

#[tokio::test]
async fn another_program_has_an_agent_inside() {
    let mut out = Vec::new();
    example::run(&mut out).await.unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
    call add {"a":20,"b":22}
    result 42
    answer The sum is 42.
    "#);
}
