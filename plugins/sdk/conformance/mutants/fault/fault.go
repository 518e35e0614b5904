// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package fault lists the mistakes that the program mutants can make, each with the case of the conformance suite that
// has to find it. The program and the test of the suite read the list; a mistake that no case finds fails the test.
package fault

import (
	"slices"
	"time"
)

// short is the run limit of stages that do not end.
const short = 3 * time.Second

// Fault is one mistake.
type Fault struct {
	// Name is that of the program which makes it.
	Name string
	// Case is the id of the case that finds it, Says a part of what that reports.
	Case, Says string
	// Targets has the plugin run with a deploy target.
	Targets bool
	// Deploys has it bring a file to two deploy targets.
	Deploys bool
	// With replaces the usual options of the stage.
	With string
	// RunLimit, when set, is how long its stage may run: for stages that do not end.
	RunLimit time.Duration
	// Noted says that the case notes it, and does not fail.
	Noted bool
}

// Healthy is the name of the program without a mistake.
const Healthy = "healthy"

// All returns all mistakes.
func All() []Fault {
	return slices.Concat(ofStart(), ofPlanning(), ofStages(), ofCancel(), ofReports(), ofSecrets(), ofRequests(),
		ofProcess(), ofLiveState(), ofSDK(), ofDeploying())
}

func ofStart() []Fault {
	return []Fault{
		{Name: "exits-at-start", Case: "start.serves", Says: "ended before it answered"},
		{Name: "module-missing", Case: "start.serves", Says: "ModuleNotFoundError: No module named 'grpc'"},
		{Name: "ignores-port", Case: "start.serves", Says: "but not on the port of its configuration"},
		{Name: "speaks-tls", Case: "start.serves", Says: "speaks TLS"},
		{Name: "speaks-http1", Case: "start.serves", Says: "speaks HTTP/1"},
		{Name: "all-interfaces", Case: "start.loopback", Says: "which other machines can reach"},
		{Name: "metrics-for-all", Case: "start.loopback", Says: "which other machines can reach"},
		{Name: "metrics-of-stage", Case: "start.loopback", Says: "which other machines can reach"},
		{Name: "metrics-later", Case: "start.loopback", Says: "which other machines can reach"},
		{Name: "takes-another-port", Case: "start.port.used", Says: "is in use, and the process goes on"},
		{Name: "shares-port", Case: "start.port.used", Says: "is in use by another process of the plugin"},
		{Name: "one-at-a-time", Case: "start.side-by-side", Says: "a second process next to the first does not start"},
		{Name: "help-fails", Case: "start.help", Says: "it printed nothing"},
		{Name: "takes-any-flag", Case: "start.flags.unknown", Says: "goes on", Noted: true},
		{Name: "serves-by-default", Case: "start.arguments.none", Says: "without the command start"},
		{Name: "guesses-flags", Case: "start.arguments.required", Says: "exit code 0 after a start without flags"},
		{Name: "config-error-hidden", Case: "config.malformed", Says: "exit code 0"},
		{Name: "config-error-hangs", Case: "config.type", Says: "neither serves nor ends"},
		{Name: "config-missing-silent", Case: "config.absent", Says: "ended without a message"},
		{Name: "target-null-silent", Case: "config.target.null", Says: "ended without a message", Targets: true},
		{Name: "no-stages", Case: "stages.named", Says: "names none"},
		{Name: "stage-blank", Case: "stages.wellformed", Says: "has blanks"},
		{Name: "stage-twice", Case: "stages.unique", Says: "names WORK twice"},
		{Name: "stages-change", Case: "stages.stable", Says: "and then"},
		{Name: "not-serving", Case: "health.serving", Says: "NOT_SERVING"},
		{Name: "serving-early", Case: "health.early", Says: "reports that it serves before it does"},
		{Name: "one-call", Case: "health.busy", Says: "while a stage ran"},
		{Name: "one-connection", Case: "health.reconnect", Says: "ended"},
	}
}

func ofPlanning() []Fault {
	return []Fault{
		{Name: "plan-fails", Case: "planning.answers", Says: "BuildPipelineSyncStages ended with"},
		{Name: "index-lost", Case: "planning.indexes", Says: "index 0, which is not in the request"},
		{Name: "index-from-zero", Case: "planning.indexes", Says: "index 0, which is not in the request"},
		{Name: "plans-stranger", Case: "planning.names", Says: `"UNHEARD", which FetchDefinedStages does not name`},
		{Name: "plans-too-much", Case: "planning.every-stage", Says: "2 stages for the one stage WORK"},
		{Name: "description-lost", Case: "planning.description", Says: "description"},
		{Name: "no-times", Case: "planning.valid", Says: "CreatedAt"},
		{Name: "times-in-nanoseconds", Case: "planning.valid", Says: "no time in seconds"},
		{Name: "planned-done", Case: "planning.status", Says: "STAGE_SUCCESS"},
		{Name: "rollback-always", Case: "planning.rollback.unasked", Says: "although rollback is not asked for"},
		{Name: "rollback-unmarked", Case: "planning.rollback.unasked", Says: "not marked as one"},
		{Name: "rollback-never", Case: "planning.rollback.asked", Says: "it has the stage WORK_ROLLBACK"},
		{Name: "rollback-optional", Case: "planning.rollback.asked", Says: "give it with --with", Noted: true},
		{Name: "rollback-index", Case: "planning.rollback.index", Says: "not in the request"},
		{Name: "stages-by-name", Case: "planning.duplicates", Says: "it plans 1 stages for 2"},
		{Name: "indexes-swapped", Case: "planning.duplicates", Says: "the stages have each other's index"},
		{Name: "map-order", Case: "planning.deterministic", Says: "the same request gave another answer"},
		{Name: "one-stage-alone", Case: "planning.several", Says: "1 stages for"},
		{Name: "plans-from-nothing", Case: "planning.empty", Says: "for a request without stages it plans WORK"},
		{Name: "plans-another", Case: "planning.unknown", Says: "for the stage NO_SUCH_STAGE it plans WORK"},
		{Name: "plan-crashes", Case: "planning.options.malformed", Says: "the process has ended"},
		{Name: "plan-waits", Case: "planning.busy", Says: "planning waits for the stage"},
		{Name: "refuses-unknown", Case: "planning.refusal.code", Says: "the code UNKNOWN", Noted: true},
		{Name: "quick-missing", Case: "quicksync.answers", Says: "Unimplemented"},
		{Name: "quick-stranger", Case: "quicksync.names", Says: `"UNHEARD"`},
		{Name: "quick-rollback-always", Case: "quicksync.rollback", Says: "although rollback is not asked for"},
		{Name: "quick-rollback-never", Case: "quicksync.rollback", Says: "a quick sync has none"},
		{Name: "quick-no-times", Case: "quicksync.valid", Says: "CreatedAt"},
		{Name: "versions-missing", Case: "versions.answers", Says: "Unimplemented"},
		{Name: "version-empty", Case: "versions.valid", Says: "without a text"},
		{Name: "version-random", Case: "versions.deterministic", Says: "answered the same question with"},
		{Name: "versions-rendered", Case: "versions.sources", Says: "DetermineVersions has written rendered.yaml"},
		{Name: "strategy-rendered", Case: "strategy.sources", Says: "DetermineStrategy has written rendered.yaml"},
		{Name: "strategy-rendered-running", Case: "strategy.sources", Says: "into the sources of what runs"},
		{Name: "strategy-missing", Case: "strategy.answers", Says: "Unimplemented"},
		{Name: "strategy-auto", Case: "strategy.decided", Says: "AUTO, which is no decision"},
		{Name: "strategy-random", Case: "strategy.deterministic", Says: "answered the same question with"},
		{Name: "needs-running", Case: "strategy.first", Says: "the process has ended"},
	}
}

func ofStages() []Fault {
	return []Fault{
		{Name: "answers-running", Case: "execution.ends", Says: "STAGE_RUNNING, which is no end"},
		{Name: "answers-nothing", Case: "execution.ends", Says: "STAGE_NOT_STARTED_YET, which is no end"},
		{Name: "never-ends", Case: "execution.ends", Says: "the stage was still running after",
			RunLimit: short},
		{Name: "crashes", Case: "execution.ends", Says: "the process has ended"},
		{Name: "works-on", Case: "execution.answer.last", Says: "the work goes on after the answer"},
		{Name: "answers-early", Case: "execution.answer.completed", Says: "the work goes on after the answer"},
		{Name: "fails-silently", Case: "execution.failure.reason", Says: "without a line in its log"},
		{Name: "fails-blank", Case: "execution.failure.reason", Says: "only blank lines"},
		{Name: "runs-anything", Case: "execution.unknown", Says: "STAGE_SUCCESS for the stage NO_SUCH_STAGE"},
		{Name: "rollback-crashes", Case: "execution.others", Says: "WORK_ROLLBACK: the process has ended"},
		{Name: "options-ignored", Case: "options.malformed", Says: "that are not JSON the stage ended in SUCCESS"},
		{Name: "options-lenient", Case: "options.type", Says: "a list in place of options the stage ended in SUCCESS"},
		{Name: "options-any", Case: "options.values", Says: "for the option steps, the stage ended in SUCCESS"},
		{Name: "command-ignored", Case: "options.command", Says: "a command that fails, the stage ended in SUCCESS",
			With: `{"run": "true"}`},
		{Name: "options-misspelt", Case: "options.misspelt", Says: "nor a schema names it", Noted: true},
		{Name: "options-needed", Case: "options.absent", Says: "the process has ended"},
		{Name: "works-once", Case: "again.same-process", Says: "the second time in"},
		{Name: "no-second-attempt", Case: "again.attempt", Says: "STAGE_NOT_STARTED_YET"},
		{Name: "index-of-attempt", Case: "again.log", Says: "indexes that the first attempt has used"},
		{Name: "lock-left", Case: "again.killed", Says: "the attempt after the kill ended in"},
		{Name: "begun-once", Case: "again.middle", Says: "ended in FAILURE"},
		{Name: "log-of-all", Case: "again.same-process", Says: "entries of the log of the first"},
		{Name: "options-kept", Case: "options.fresh", Says: "keeps the options of an earlier stage"},
		{Name: "options-of-application", Case: "options.fresh", Says: "keeps the options of an earlier stage"},
		{Name: "done-in-deployment", Case: "again.pipeline", Says: "takes the work of the first for its own",
			With: `{"steps": 5, "word": "x"}`, Noted: true},
		{Name: "sources-needed", Case: "again.without-sources", Says: "the process has ended"},
	}
}
