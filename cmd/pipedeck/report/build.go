// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Facts are what is known at the end of a run.
type Facts struct {
	// Root is the work tree of the repository, Head the deployed commit, Base the one before it; empty for none.
	Root, Head, Base string
	Started, Ended   time.Time
	// Checked are the applications of the repository.
	Checked []*workspace.Checked
	// Touched has the configuration files of those that the commits from Base to Head touch; nil without Base.
	Touched map[string]bool
	// Aside has, by their configuration files, those that the run leaves out: EXCLUDED or UNCHANGED.
	Aside map[string]Verdict
	// ByHand has those that nothing in the run deploys at Head: MANUAL or UNDEPLOYED. Users may deploy them all the
	// same.
	ByHand map[string]Verdict
	// Removed are the applications of Base that Head does not have.
	Removed []Application
	// FurtherByHand are the names of applications of other repositories that only users deploy.
	FurtherByHand []string
	// Gone are the applications that an earlier commit of the run has deployed and that HEAD does not have, by their
	// configuration files.
	Gone map[string]Gone
	// At reports whether an application that was deployed from an earlier commit need not be deployed again; nil for
	// what the state of the application says.
	At func(app *deckv1.Application, commit string) bool
	// Deck is the last state of the environment; nil when it was not started.
	Deck *state.Deck
	// Logs are of the stages; may be nil.
	Logs           *Logs
	AllowMissing   bool
	AllowUnhealthy bool
	// BaseFailed: the run ended at Base, and Deck is the environment there.
	BaseFailed bool
}

// Verdict is the result of an application that is known before anything is deployed.
type Verdict struct {
	Result Result
	Reason string
}

// Build makes the report of a run. How it ended is set by the caller.
func Build(f Facts) Run {
	run := Run{Schema: Schema, Repository: f.Root, Head: f.Head, Base: f.Base, Started: f.Started.UTC(),
		Ended: f.Ended.UTC(), Seconds: seconds(f.Ended.Sub(f.Started)), AllowMissing: f.AllowMissing,
		AllowUnhealthy: f.AllowUnhealthy, BaseFailed: f.BaseFailed, Applications: []Application{}}
	live := map[string]*deckv1.Application{}
	if f.Deck != nil {
		for _, a := range f.Deck.Applications() {
			if !IsWatched(a) {
				run.Applications = append(run.Applications, f.elsewhere(a))
				continue
			}
			live[FileOf(a)] = a
		}
	}
	for _, checked := range f.Checked {
		run.Applications = append(run.Applications, f.application(checked, live[checked.File]))
		delete(live, checked.File)
	}
	for _, a := range f.Removed {
		if gone := f.Gone[a.File]; live[a.File] == nil && gone.Deployment != nil {
			run.Applications = append(run.Applications, f.gone(a.File, gone))
			continue
		}
		run.Applications = append(run.Applications, f.removed(a, live[a.File]))
		delete(live, a.File)
	}
	for file, a := range live {
		if !a.GetDisabled() && f.Deck.Newest(a.GetId()) != nil {
			run.Applications = append(run.Applications, f.removed(Application{Name: a.GetName(), File: file,
				Labels: a.GetLabels()}, a))
		}
	}
	run.sort()
	return run
}

// application is the report of one; live is nil for one that the environment does not have.
func (f *Facts) application(checked *workspace.Checked, live *deckv1.Application) Application {
	a := Application{Name: cmp.Or(checked.Name, live.GetName()), File: checked.File, Labels: checked.Labels,
		Touched: f.Touched[checked.File]}
	for _, warning := range checked.Warnings {
		where, _ := f.find(warning, path.Dir(a.File))
		a.Warnings = append(a.Warnings, Warning{Text: text.Line(warning), Place: where})
	}
	var newest *deckv1.Deployment
	if live != nil {
		newest = f.Deck.Newest(live.GetId())
	}
	f.describe(&a, newest)
	f.end(&a, f.result(checked, live, newest))
	f.examine(&a, live)
	return a
}

// IsWatched reports whether an application is in the repository of the environment.
func IsWatched(a *deckv1.Application) bool {
	return slices.Contains([]string{"", workspace.RepositoryID}, a.GetRepositoryId())
}

// FileOf is the configuration file of an application in its repository, with the id of the repository in front unless
// that is the one of the environment.
func FileOf(a *deckv1.Application) string {
	file := path.Join(a.GetPath(), a.GetConfigFilename())
	if !IsWatched(a) {
		return a.GetRepositoryId() + ":" + file
	}
	return file
}

// elsewhere is the report of an application of another repository.
func (f *Facts) elsewhere(live *deckv1.Application) Application {
	a := Application{Name: live.GetName(), File: FileOf(live), Labels: live.GetLabels()}
	newest := f.Deck.Newest(live.GetId())
	f.describe(&a, newest)
	o := outcome{result: Success}
	switch {
	case isInvalid(live, newest):
		o = outcome{result: Invalid, reason: cmp.Or(live.GetSyncReason(), live.GetSyncShortReason())}
	case newest == nil && (live.GetManual() || slices.Contains(f.FurtherByHand, live.GetName())):
		o = outcome{result: Manual, reason: "neither a commit, drift nor a chain deploys it"}
	case newest == nil:
		o = outcome{result: Unfinished, reason: "it was not deployed yet"}
	case newest.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
		o = f.deployed(&workspace.Checked{}, live, newest)
	}
	a.Result, a.Reason, a.Cause = o.result, o.reason, o.cause
	if a.Cause != "" && a.Result == Failure {
		a.Result = Missing
	}
	f.examine(&a, live)
	return a
}

// removed is the report of an application that HEAD does not have; live is nil for one that the environment does not
// have. How its last deployment ended counts only where the run has not come to HEAD.
func (f *Facts) removed(a Application, live *deckv1.Application) Application {
	o := outcome{result: Removed, reason: cmp.Or(f.Gone[a.File].Reason,
		"its configuration is not at HEAD; what it has deployed stays")}
	if aside, is := f.Aside[a.File]; is {
		o.result, o.reason = aside.Result, aside.Reason
	}
	var newest *deckv1.Deployment
	if live != nil {
		newest = f.Deck.Newest(live.GetId())
	}
	f.describe(&a, newest)
	if status := newest.GetStatus(); newest != nil && status != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS {
		if f.BaseFailed || f.Gone[a.File].Deployment != nil {
			o = f.deployed(&workspace.Checked{}, live, newest)
		} else {
			o.reason += "; its last deployment was " + reader.Name(status)
		}
	}
	f.end(&a, o)
	return a
}

// end fills in how it went.
func (f *Facts) end(a *Application, o outcome) {
	a.Result, a.Reason, a.Cause = o.result, o.reason, o.cause
	if a.Cause != "" && a.Result == Failure {
		a.Result = Missing
	}
	if f.BaseFailed && (a.Result == Failure || a.Result == Missing || a.Result == Cancelled) {
		// The files of HEAD are no place for it.
		a.Reason, a.Place = fmt.Sprintf("at the base %.7s: %s", f.Base, a.Reason), nil
		return
	}
	f.locate(a, o.place)
}

// isInvalid reports whether piped refuses the configuration, for another reason than what the environment lacks.
func isInvalid(live *deckv1.Application, newest *deckv1.Deployment) bool {
	return live.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG && newest.GetCause() == nil
}

// outcome is how it went, where, and why.
type outcome struct {
	result        Result
	reason, place string
	cause         Cause
}

func (f *Facts) result(checked *workspace.Checked, live *deckv1.Application, newest *deckv1.Deployment) outcome {
	aside, byHand := f.Aside[checked.File], f.ByHand[checked.File]
	ofHead := newest != nil && newest.GetCommit().GetHash() == f.Head
	switch {
	case aside.Result != "":
		return outcome{result: aside.Result, reason: aside.Reason}
	case len(checked.Errors) > 0 && newest == nil:
		var all []string
		for _, mistake := range checked.Errors {
			all = append(all, text.Line(mistake.Error()))
		}
		o := outcome{result: Invalid, reason: strings.Join(all, "; ")}
		o.place = firstPlace(checked)
		if checked.NoPlugin() {
			o.result, o.cause = Missing, NoPlugin
		}
		return o
	case isInvalid(live, newest):
		return outcome{result: Invalid, reason: cmp.Or(live.GetSyncReason(), live.GetSyncShortReason())}
	case byHand.Result == Undeployed && !ofHead, byHand.Result != "" && newest == nil:
		return outcome{result: byHand.Result, reason: byHand.Reason}
	case newest == nil && f.Deck == nil:
		return outcome{result: Unfinished, reason: "the run ended before it was deployed"}
	case newest == nil && live == nil:
		return outcome{result: Unfinished, reason: "piped has not registered it"}
	case newest == nil:
		return outcome{result: Unfinished, reason: "it was not deployed yet"}
	}
	return f.deployed(checked, live, newest)
}

func (f *Facts) deployed(checked *workspace.Checked, live *deckv1.Application, newest *deckv1.Deployment) outcome {
	o := outcome{reason: newest.GetStatusReason()}
	switch newest.GetStatus() {
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
		switch {
		case newest.GetCommit().GetHash() == f.Head:
			return outcome{result: Success}
		case f.Base != "" && newest.GetCommit().GetHash() == f.Base && !f.Touched[checked.File]:
			return outcome{result: Unchanged, reason: "the base deployed it, and the commits do not touch it"}
		case f.isAt(live, newest) && !f.Touched[checked.File]:
			return outcome{result: Unchanged, reason: fmt.Sprintf("commit %.7s deployed it, and later ones do not "+
				"touch it", newest.GetCommit().GetHash())}
		}
		return outcome{result: Unfinished, reason: fmt.Sprintf("only commit %.7s was deployed",
			newest.GetCommit().GetHash())}
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED:
		o.result = Cancelled
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE:
		o.result = Failure
		o.cause, o.place = CauseOf(newest)
		if o.cause == "" && len(newest.GetStages()) == 0 && checked.NoPlugin() {
			o.cause = NoPlugin
		}
		if o.cause == NoPlugin && checked.NoPlugin() {
			o.place = firstPlace(checked)
		}
		if o.cause == ForeignKey {
			o.reason = withoutEncrypt(o.reason)
		}
	default:
		o.result = Unfinished
		o.reason = strings.TrimRight(reader.Name(newest.GetStatus())+": "+underWay(newest), ": ")
	}
	return o
}

// isAt reports whether an application is as Head wants it, though an earlier commit has deployed it.
func (f *Facts) isAt(live *deckv1.Application, newest *deckv1.Deployment) bool {
	if f.At == nil {
		return live.GetSync() == deckv1.SyncStatus_SYNC_STATUS_SYNCED
	}
	return f.At(live, newest.GetCommit().GetHash())
}

// encrypt is the remedy of piped for a secret of another key.
var encrypt = regexp.MustCompile(`encrypt it for this piped with pipedeck encrypt(?: --[a-z-]+ [^\s;]+)*`)

// withoutEncrypt names the remedy that is left for a run: its environment, and the key of that, are gone when someone
// reads the reason.
func withoutEncrypt(reason string) string {
	return encrypt.ReplaceAllLiteralString(reason, "give the run that key with --piped-config")
}

// firstPlace is that of the first mistake of a configuration; empty where it has none.
func firstPlace(checked *workspace.Checked) string {
	first, is := errors.AsType[*config.Error](checked.Errors[0])
	if !is || first.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", first.File, first.Line, first.Column)
}

// underWay says what a deployment that has not ended does.
func underWay(d *deckv1.Deployment) string {
	var doing []string
	for _, stage := range d.GetStages() {
		switch {
		case stage.GetCanApprove():
			doing = append(doing, "stage "+state.StageWord(stage)+" waits for an approval")
		case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING:
			doing = append(doing, "stage "+state.StageWord(stage)+" is running")
		}
	}
	return cmp.Or(strings.Join(doing, ", "), d.GetStatusReason())
}

// CauseOf is what the environment lacks for a deployment that has failed. Each stage that failed must have a cause: a
// mistake is not hidden by a cause next to it. Stages of the rollback do not count.
func CauseOf(d *deckv1.Deployment) (cause Cause, place string) {
	if c := d.GetCause(); c != nil {
		return Cause(c.GetKind()), c.GetPlace()
	}
	for _, stage := range d.GetStages() {
		if stage.GetRollback() || stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_FAILURE {
			continue
		}
		if stage.GetCause() == nil {
			return "", ""
		}
		if cause == "" {
			cause, place = Cause(stage.GetCause().GetKind()), stage.GetCause().GetPlace()
		}
	}
	return cause, place
}

// describe fills in what the deployment says.
func (f *Facts) describe(a *Application, d *deckv1.Deployment) {
	if d == nil {
		return
	}
	a.Deployment, a.Commit, a.Why = d.GetId(), d.GetCommit().GetHash(), text.Line(d.GetSummary())
	if d.GetStrategy() != "AUTO" && len(d.GetStages()) > 0 {
		a.Strategy = d.GetStrategy()
	}
	a.Seconds = seconds(state.DeploymentTook(d, f.Ended))
	for _, stage := range d.GetStages() {
		one := Stage{Name: state.StageWord(stage), Type: stage.GetName(), Status: reader.Name(stage.GetStatus()),
			Reason: text.Line(stage.GetStatusReason()), Cause: Cause(stage.GetCause().GetKind()),
			Rollback: stage.GetRollback(), Log: f.Logs.Tail(d.GetId(), stage.GetId())}
		if stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_SKIPPED {
			one.Seconds = seconds(state.Elapsed(stage.GetStartedAt(), stage.GetCompletedAt(), f.Ended))
		}
		a.Stages = append(a.Stages, one)
	}
}

// seconds rounds to milliseconds.
func seconds(d time.Duration) float64 {
	return float64(max(0, d).Round(time.Millisecond).Milliseconds()) / 1000
}
