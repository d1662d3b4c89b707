//! Every statement of the registry, run: at least 10⁴ packets per property.
#![allow(missing_docs)]

use thalweg_theory::{Outcome, Scale, check, checks};

fn upheld(id: &str) -> Outcome {
    let check = check(id).expect("a check");
    let outcome = check.run(Scale::Quick, 1);
    println!("{id}: {outcome:?}");
    assert!(check.upheld(&outcome), "{id}, {}: {outcome:?}", check.statement);
    outcome
}

macro_rules! statements {
    (random: $($name:ident $id:literal)*; fixed: $($fixed:ident $fid:literal)*;) => {
        $(#[test] fn $name() {
            let outcome = upheld($id);
            assert!(outcome.packets >= 10_000, "{}", outcome.packets);
            assert!(outcome.found >= 10, "{}", outcome.found);
        })*
        $(#[test] fn $fixed() { upheld($fid); })*
        #[test]
        fn every_statement_is_tested() {
            let tested = [$($id,)* $($fid),*];
            assert!(checks().iter().all(|c| tested.contains(&c.id)));
            assert_eq!(tested.len(), checks().len());
        }
    };
}

statements! {
    random:
        th3_omniscient_initialisation_replays_everything "UPS-TH3a"
        th5_lstf_replays_two_congestion_points "UPS-TH5a"
        th4_priorities_replay_one_known_congestion_point "UPS-TH4a"
        th4_but_not_one_unknown "UPS-TH4b"
        th2_edf_is_lstf "UPS-TH2a"
        th1_the_header_is_the_slack "UPS-TH1a"
        th6_negative_slack_has_a_culprit "UPS-TH6a"
        th7_three_congestion_points_are_found_to_be_too_many "UPS-TH7"
        th8_without_preemption_one_is "UPS-TH8"
        th9_who_leaves_in_time_has_slack "UPS-TH9a"
        th10_exchanges_lead_to_lstf "UPS-TH10a"
        fifo_plus_is_lstf_with_equal_slack "UPS-F3z"
        hooks_and_a_priority_queue_are_lstf "UPS-H1a"
        lstf_is_work_conserving "UPS-L1"
        classes_can_be_put_in_strict_order "UPS-L2"
        used_slack_is_waiting "UPS-L3"
        rc3_each_segment_once_and_a_primary_loop_that_is_tcp "RC3-F1-b"
        rc3_class_zero_is_safe_from_the_others "RC3-P-a"
        bfc_active_flows_are_geometric "BFC-P1-a"
        bfc_birthdays "BFC-P3-a"
        bfc_flow_tables_are_large_enough "BFC-M-a"
        bfc_ports_conserve_work "BFC-P8"
        bfc_clos_networks_close_no_cycle "BFC-D1-b"
        abc_routers_keep_to_the_share "ABC-D2"
        abc_lost_acks_slow_changes "ABC-D6";
    fixed:
        no_universal_scheduler "UPS-F7a"
        its_schedules_are_viable "UPS-F7b"
        three_points_printed "UPS-TH5b"
        priorities_in_a_circle "UPS-F8a"
        three_is_too_many "UPS-TH3c"
        packet_time "UPS-T1x"
        fair_share "UPS-F4d"
        slack_step "UPS-F11c"
        abc_windows_follow_the_share "ABC-D1"
        abc_chains_leave_the_smallest_share "ABC-D3"
        abc_windows_settle "ABC-D5"
        abc_headroom_bounds_what_a_wrong_count_costs "ABC-D9"
        vcp_doubles_in_twelve_round_trips "ABC-VCPa"
        bfc_tables_have_the_published_sizes "BFC-M-b"
        bfc_a_lone_flow_runs_dry "BFC-C1-b"
        bfc_counters_are_as_many_as_published "BFC-M-c"
        rc3_worked_example "RC3-F3-a"
        rc3_only_two_are_repaired "RC3-F3-b"
        rc3_levels "RC3-F1-a"
        rc3_petabyte "RC3-F4-d"
        rc3_super_segments "RC3-F18-b"
        rc3_fills_what_tcp_leaves "RC3-F2-a";
}
