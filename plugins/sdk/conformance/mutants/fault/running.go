// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

func ofCancel() []Fault {
	return []Fault{
		{Name: "ignores-cancel", Case: "cancel.ends", Says: "the stage goes on"},
		{Name: "heedless", Case: "cancel.ends", Says: "it did all of its work", With: `{"steps": 110, "word": "x"}`},
		{Name: "cancel-says-done", Case: "cancel.ends", Says: "as that of a stage that has done its work",
			With: `{"steps": 9, "word": "x"}`, Noted: true},
		{Name: "cancel-unsaid", Case: "cancel.ends", Says: "was not completed"},
		{Name: "works-after-cancel", Case: "cancel.quiet", Says: "the stage goes on"},
		{Name: "busy-after-cancel", Case: "cancel.work", Says: "the work goes on"},
		{Name: "writes-after-cancel", Case: "cancel.work", Says: "has written"},
		{Name: "cancel-keeps-lock", Case: "cancel.next", Says: "the next stage ended in cut off"},
		{Name: "cancel-crashes", Case: "cancel.next", Says: "the process has ended"},
		{Name: "ignores-deadline", Case: "cancel.deadline", Says: "the stage goes on"},
		{Name: "cancel-without-reason", Case: "cancel.reason", Says: "does not say who cancelled it"},
		{Name: "one-stage-at-once", Case: "concurrency.parallel", Says: "stages run one after another"},
		{Name: "crashes-together", Case: "concurrency.ends", Says: "the process has ended"},
		{Name: "fails-together", Case: "concurrency.ends", Says: "8 stages at once"},
		{Name: "global-log", Case: "concurrency.log", Says: "logs are mixed"},
		{Name: "global-metadata", Case: "concurrency.metadata", Says: "metadata is mixed"},
		{Name: "cancels-all", Case: "concurrency.cancel", Says: "after the cancel of another stage"},
	}
}

func ofReports() []Fault {
	return []Fault{
		{Name: "log-empty", Case: "log.valid", Says: "ReportStageLogs"},
		{Name: "log-not-completed", Case: "log.completed", Says: "no ReportStageLogsFromLastCheckpoint with completed"},
		{Name: "log-not-stored", Case: "log.stored", Says: "came with ReportStageLogs alone"},
		{Name: "log-index-fixed", Case: "log.indexes", Says: "have the index of another block"},
		{Name: "log-backwards", Case: "log.indexes", Says: "comes after one with"},
		{Name: "log-milliseconds", Case: "log.time", Says: "and it is"},
		{Name: "log-elsewhere", Case: "log.ids", Says: "which piped had not asked for together"},
		{Name: "log-too-large", Case: "log.size", Says: "bytes; piped takes"},
		{Name: "log-escapes", Case: "log.text", Says: "control character"},
		{Name: "log-given-up", Case: "log.refused", Says: "after piped refused some reports"},
		{Name: "log-impatient", Case: "log.slow", Says: "with a slow piped the stage ended in"},
		{Name: "polls", Case: "log.pace", Says: "the stage asked piped"},
		{Name: "stop-hangs", Case: "log.stop", Says: "while a stage wrote its log: it goes on",
			RunLimit: short},
		{Name: "metadata-large", Case: "metadata.bounds", Says: "it stores"},
		{Name: "metadata-own-name", Case: "metadata.plugin-name", Says: `for the plugin "mutant"`},
		{Name: "metadata-crashes", Case: "metadata.refused", Says: "the process has ended"},
		{Name: "metadata-write-errors-ignored", Case: "metadata.unstored", Says: "without a word about it in its log"},
		{Name: "metadata-read-errors-ignored", Case: "metadata.unread", Says: "without a word about it in its log"},
		{Name: "metadata-trusted", Case: "metadata.foreign", Says: "the process has ended"},
	}
}

func ofSecrets() []Fault {
	return []Fault{
		{Name: "prints-config", Case: "secrets.config", Says: "what it prints"},
		{Name: "prints-base64", Case: "secrets.config", Says: "what it prints"},
		{Name: "prints-target", Case: "secrets.target", Says: "what it prints", Targets: true},
		{Name: "logs-options", Case: "secrets.options", Says: "the log of the stage"},
		{Name: "refuses-with-options", Case: "secrets.options", Says: "the error of the stage"},
		{Name: "logs-application", Case: "secrets.application", Says: "the log of the stage"},
		{Name: "stores-source", Case: "secrets.source", Says: "metadata"},
		{Name: "prints-wrong-config", Case: "secrets.errors", Says: "a configuration that it cannot read"},
		{Name: "password-argument", Case: "secrets.processes", Says: "command line of"},
		{Name: "password-argument-late", Case: "secrets.processes", Says: "command line of"},
		{Name: "logs-basic", Case: "secrets.config", Says: "the log of the stage"},
		{Name: "options-file", Case: "secrets.files", Says: "which every user of the machine can read"},
		{Name: "prints-password", Case: "secrets.configured", Says: "what it prints"},
	}
}

func ofRequests() []Fault {
	return []Fault{
		{Name: "trusts-input", Case: "malformed.execute.empty", Says: "the process has ended"},
		{Name: "trusts-fields", Case: "malformed.execute.fields", Says: "the process has ended"},
		{Name: "trusts-versions", Case: "malformed.versions.empty", Says: "the process has ended"},
		{Name: "trusts-strategy", Case: "malformed.strategy.empty", Says: "the process has ended"},
		{Name: "unknown-methods", Case: "malformed.method", Says: "not with Unimplemented"},
		{Name: "refuses-new-fields", Case: "malformed.newer", Says: "with fields that it does not know"},
		{Name: "small-messages", Case: "limits.application", Says: "refuses the message"},
		{Name: "ascii", Case: "limits.unicode", Says: "with names in other scripts"},
		{Name: "needs-new-piped", Case: "piped.old", Says: "under PipeCD's piped the stage ended in"},
		{Name: "dials-once", Case: "piped.late", Says: "does not start"},
		{Name: "missing-crashes", Case: "piped.missing-methods", Says: "the process has ended"},
		{Name: "own-name", Case: "piped.name", Says: "does not start"},
	}
}

func ofProcess() []Fault {
	return []Fault{
		{Name: "ignores-sigterm", Case: "process.sigterm", Says: "after SIGTERM"},
		{Name: "exit-code", Case: "process.sigterm", Says: "exit status 7"},
		{Name: "waits-for-stages", Case: "process.sigterm.busy", Says: "while a stage runs: it goes on",
			RunLimit: short},
		{Name: "exits-at-once", Case: "process.sigterm.stage", Says: "in the middle of a stage"},
		{Name: "succeeds-at-sigterm", Case: "process.sigterm.stage", Says: "that was broken off for done",
			With: `{"steps": 40, "word": "x"}`},
		{Name: "ignores-sigint", Case: "process.sigint", Says: "after SIGINT"},
		{Name: "outlives-piped", Case: "process.piped-gone", Says: "after piped was killed"},
		{Name: "prints-colours", Case: "process.output", Says: "control character"},
		{Name: "prints-a-lot", Case: "process.output", Says: "it printed"},
		{Name: "busy-loop", Case: "process.idle", Says: "of a processor in a second without a request"},
		{Name: "child-left", Case: "process.children", Says: "after its end there was still sleep"},
		{Name: "child-late", Case: "process.children.stage", Says: "of the stage, there was still sleep", Noted: true},
		{Name: "child-of-stage", Case: "process.children.stage", Says: "there are still"},
		{Name: "writes-here", Case: "process.files", Says: "into the directory that it is started in"},
		{Name: "writes-home", Case: "process.files", Says: "into the home directory"},
		{Name: "temporary-left", Case: "process.files.temporary", Says: "in the temporary directory"},
		{Name: "leaks-files", Case: "leaks.descriptors", Says: "open files behind"},
		{Name: "leaks-memory", Case: "leaks.memory", Says: "it keeps what it was sent"},
		{Name: "leaks-memory-of-stages", Case: "leaks.memory", Says: "it keeps what it needs for a stage"},
		{Name: "child-unreaped", Case: "process.zombies", Says: "the plugin has not waited for them"},
		{Name: "leaks-goroutines", Case: "leaks.goroutines", Says: "goroutines behind"},
		{Name: "leaks-at-cancel", Case: "leaks.cancelled", Says: "goroutines behind"},
		{Name: "leaks-at-refusal", Case: "leaks.refused", Says: "open files behind"},
		{Name: "live-leaks", Case: "leaks.questions", Says: "goroutines behind"},
		{Name: "live-temporary", Case: "process.files.temporary", Says: "since GetLivestate"},
	}
}

func ofLiveState() []Fault {
	return []Fault{
		{Name: "live-hangs", Case: "livestate.answers", Says: "GetLivestate ended with"},
		{Name: "live-too-large", Case: "livestate.answers", Says: "piped takes answers of 4 MiB"},
		{Name: "live-shows-password", Case: "secrets.configured", Says: "the answer to GetLivestate"},
		{Name: "live-no-id", Case: "livestate.resources", Says: "Id"},
		{Name: "live-no-time", Case: "livestate.resources", Says: "CreatedAt"},
		{Name: "live-same-id", Case: "livestate.unique", Says: "two resources have the id"},
		{Name: "live-lost-parent", Case: "livestate.parents", Says: "is no resource of the live state"},
		{Name: "live-rendered", Case: "livestate.sources", Says: "GetLivestate has written rendered.yaml"},
		{Name: "live-foreign", Case: "livestate.targets", Says: "which was not asked about", Targets: true},
		{Name: "live-no-reason", Case: "livestate.sync", Says: "OUT_OF_SYNC without a reason"},
		{Name: "live-crashes", Case: "livestate.unknown-application", Says: "the process has ended"},
		{Name: "live-random", Case: "livestate.stable", Says: "and then"},
		{Name: "changes-at-once", Case: "livestate.changes.wait", Says: "questions for changes"},
		{Name: "changes-hold-stop", Case: "livestate.changes.stop", Says: "while a question for changes waits"},
		{Name: "drift-stranger", Case: "drift.resources", Says: "which is no resource of the live state"},
		{Name: "drift-endless", Case: "drift.bounds", Says: "it reports 500 fields"},
		{Name: "preview-foreign", Case: "preview.targets", Says: "which was not asked about", Targets: true},
		{Name: "preview-contradicts", Case: "preview.changes", Says: "says no change, and has details", Targets: true},
		{Name: "preview-crashes", Case: "preview.first", Says: "the process has ended"},
		{Name: "schema-stranger", Case: "schema.stages", Says: "UNHEARD"},
		{Name: "schema-broken", Case: "schema.document", Says: "not JSON"},
	}
}

func ofSDK() []Fault {
	return []Fault{
		{Name: "sdk-ignores-cancel", Case: "cancel.ends", Says: "the stage goes on"},
		{Name: "sdk-sleeps", Case: "cancel.ends", Says: "the stage", With: `{"steps": 60}`, RunLimit: short},
		{Name: "sdk-sleeps", Case: "cancel.deadline", Says: "stopped in the middle of its work", With: `{"steps": 60}`,
			RunLimit: short},
		{Name: "sdk-sleeps", Case: "cancel.ends", Says: "the stage", With: `{"steps": 3}`, Noted: true},
		{Name: "sdk-prints-config", Case: "secrets.config", Says: "what it prints"},
		{Name: "sdk-prints-request", Case: "secrets.options", Says: "what it prints"},
		{Name: "sdk-leaks-goroutines", Case: "leaks.goroutines", Says: "goroutines behind"},
	}
}
