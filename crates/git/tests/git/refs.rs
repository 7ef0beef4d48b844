//! R1: the names of our refs, which earlier versions have written too.

use git::{TaskRefs, branch_ref};

/// R1
#[test]
fn refs_of_a_task_have_fixed_names() {
    let refs = TaskRefs::of("tsk_12");
    let names = [refs.base(), refs.work(), refs.merged(), refs.merged_work(), branch_ref("task-12-x")];
    let expected = [
        "refs/saihai/base/tsk_12",
        "refs/saihai/work/tsk_12",
        "refs/saihai/merged/tsk_12",
        "refs/saihai/merged-work/tsk_12",
        "refs/heads/task-12-x",
    ];
    assert_eq!(names, expected);
}
