//! R1: the names of our refs.

use git::{RefNamespace, branch_ref};

/// R1
#[test]
fn refs_of_a_task_have_fixed_names() {
    let refs = RefNamespace::new(1_767_225_600_000, "shop").task("tsk_12");
    let names = [refs.base(), refs.work(), refs.merged(), refs.merged_work(), branch_ref("task-12-x")];
    let expected = [
        "refs/saihai/1767225600000/shop/base/tsk_12",
        "refs/saihai/1767225600000/shop/work/tsk_12",
        "refs/saihai/1767225600000/shop/merged/tsk_12",
        "refs/saihai/1767225600000/shop/merged-work/tsk_12",
        "refs/heads/task-12-x",
    ];
    assert_eq!(names, expected);
}
