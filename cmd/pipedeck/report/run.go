// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/pipedeck/pipedeck/tui/text"
)

// Schema is the version of the JSON report. It grows when a field changes its meaning or goes; new fields may come.
const Schema = 1

// Result is how a run ended for one application.
type Result string

// The results, the worst first.
const (
	// Invalid: the configuration at HEAD has mistakes.
	Invalid Result = "INVALID_CONFIG"
	Failure Result = "FAILURE"
	// Missing: the environment lacks something that the application needs; see Cause.
	Missing   Result = "MISSING"
	Cancelled Result = "CANCELLED"
	// Unhealthy: HEAD is deployed, and what runs of it is not healthy.
	Unhealthy Result = "UNHEALTHY"
	// Undeployed: the commits of the run touch the application, and nothing in the run deploys it.
	Undeployed Result = "UNDEPLOYED"
	// Unfinished: the run ended before the application was deployed.
	Unfinished Result = "UNFINISHED"
	Success    Result = "SUCCESS"
	// Unchanged: the commits of the run do not touch the application.
	Unchanged Result = "UNCHANGED"
	// Removed: its configuration is not at HEAD any more. Reason says whether what it had deployed was deleted.
	Removed Result = "REMOVED"
	// Manual: neither a commit, drift nor a chain deploys it, or only chains of applications that are left out.
	Manual Result = "MANUAL"
	// Excluded: --exclude names it, or appSelector of the piped configuration does not select it.
	Excluded Result = "EXCLUDED"
)

// Results are all of them, the worst first.
func Results() []Result {
	return []Result{Invalid, Failure, Missing, Cancelled, Unhealthy, Undeployed, Unfinished, Success, Unchanged,
		Removed, Manual, Excluded}
}

// Cause is what the environment lacks for an application; empty for nothing that is known.
type Cause string

// The causes.
const (
	// NoPlugin: no plugin of the environment owns a stage, or the one that the application names is not there.
	NoPlugin Cause = "NO_PLUGIN"
	// NoCRD: the cluster does not serve the kind of an object.
	NoCRD Cause = "NO_CRD"
	// Unreachable: a host with a part of the application cannot be reached.
	Unreachable Cause = "UNREACHABLE"
	// ForeignKey: a secret is encrypted for a key that piped does not have.
	ForeignKey Cause = "FOREIGN_KEY"
	// NoProgram: a program that a stage runs is not installed on the machine of piped.
	NoProgram Cause = "NO_PROGRAM"
)

// Run is one run with every application of its repository, the worst first.
type Run struct {
	Schema int `json:"schema"`
	// Repository is the root of the work tree.
	Repository string `json:"repository"`
	Head       string `json:"head"`
	// Base is the commit that was deployed before Head; empty for none.
	Base    string    `json:"base,omitempty"`
	Started time.Time `json:"started_at"`
	Ended   time.Time `json:"ended_at"`
	// Seconds is how long it took.
	Seconds  float64 `json:"duration_seconds"`
	ExitCode int     `json:"exit_code"`
	// Reason says why it ended so.
	Reason string `json:"reason"`
	// NothingToDeploy: the commits from Base to Head were inspected, and they touch no application. The run is well.
	NothingToDeploy bool `json:"nothing_to_deploy,omitempty"`
	// BaseFailed: the base could not be deployed, so Head was not deployed. The results are those at the base.
	BaseFailed bool `json:"base_failed,omitempty"`
	// AllowMissing: applications with the result MISSING do not fail the run.
	AllowMissing bool `json:"allow_missing"`
	// AllowUnhealthy: applications with the result UNHEALTHY do not fail the run.
	AllowUnhealthy bool          `json:"allow_unhealthy"`
	Applications   []Application `json:"applications"`
}

// Place is where in the repository something is wrong.
type Place struct {
	// File is relative to the root.
	File string `json:"file"`
	// Line and Column count from 1; they are 0 when they are not known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Application is how the run ended for one application.
type Application struct {
	Name string `json:"name"`
	// File is its configuration file, relative to the root of the repository.
	File   string            `json:"file"`
	Labels map[string]string `json:"labels,omitempty"`
	Result Result            `json:"result"`
	Cause  Cause             `json:"cause,omitempty"`
	// Touched: the commits from Base to Head touch it.
	Touched bool `json:"touched,omitempty"`
	// Strategy is QUICK_SYNC or PIPELINE as it was planned; empty without a plan.
	Strategy string `json:"strategy,omitempty"`
	// Why is why this strategy was chosen.
	Why string `json:"strategy_reason,omitempty"`
	// Deployment is the id of the deployment that counts; empty for none.
	Deployment string `json:"deployment,omitempty"`
	// Commit is the commit of the deployment.
	Commit  string  `json:"commit,omitempty"`
	Seconds float64 `json:"duration_seconds"`
	// Sync and Health are those of its live state as `pipedeck apps` names them; empty where it was not registered.
	Sync   string `json:"sync,omitempty"`
	Health string `json:"health,omitempty"`
	// Reason says why the result is not SUCCESS, or what is wrong with what runs.
	Reason string `json:"reason,omitempty"`
	// Place is where it is wrong, as exactly as it is known.
	Place *Place `json:"place,omitempty"`
	// Warnings of its configuration, and of what runs.
	Warnings []Warning `json:"warnings,omitempty"`
	Stages   []Stage   `json:"stages,omitempty"`
}

// Warning is about an application that is deployed all the same.
type Warning struct {
	Text  string `json:"text"`
	Place *Place `json:"place,omitempty"`
}

// Stage is one stage of the deployment.
type Stage struct {
	// Name is the id that the author gave it, else its type.
	Name string `json:"name"`
	Type string `json:"type"`
	// Status is that of the tables: SUCCESS, FAILURE, SKIPPED, NOT_STARTED and others.
	Status   string  `json:"status"`
	Seconds  float64 `json:"duration_seconds"`
	Reason   string  `json:"reason,omitempty"`
	Cause    Cause   `json:"cause,omitempty"`
	Rollback bool    `json:"rollback,omitempty"`
	// Log has the last lines of its log.
	Log []string `json:"log,omitempty"`
}

// Title names the application for people: with its file where several have its name, and by its file without a name.
func (r *Run) Title(a *Application) string {
	same := 0
	for i := range r.Applications {
		if r.Applications[i].Name == a.Name {
			same++
		}
	}
	switch {
	case a.Name == "":
		return text.Line(a.File)
	case same > 1:
		return text.Line(a.Name + " (" + a.File + ")")
	}
	return text.Line(a.Name)
}

// Fails reports whether an application with the result fails the run.
func (r *Run) Fails(result Result) bool {
	switch result {
	case Invalid, Failure, Cancelled, Undeployed, Unfinished:
		return true
	case Missing:
		return !r.AllowMissing
	case Unhealthy:
		return !r.AllowUnhealthy
	}
	return false
}

// Count returns how many applications have one of the results.
func (r *Run) Count(results ...Result) (n int) {
	for i := range r.Applications {
		if slices.Contains(results, r.Applications[i].Result) {
			n++
		}
	}
	return n
}

// DeploysNothing reports whether the run has shown nothing: none of the applications that the commits touch was
// deployed, or none at all where there are no such commits.
func (r *Run) DeploysNothing() bool {
	touched := false
	deployed := false
	for i := range r.Applications {
		a := &r.Applications[i]
		if a.Touched && !touched {
			touched, deployed = true, false
		}
		deployed = deployed || a.Touched == touched && a.isDeployed()
	}
	return !deployed
}

// isDeployed reports whether the run, or an earlier one in the same environment, has deployed the application.
func (a *Application) isDeployed() bool {
	return a.Result == Success || a.Result == Unhealthy ||
		(a.Result == Unchanged || a.Result == Removed) && a.Deployment != ""
}

// Failed returns the applications that fail the run.
func (r *Run) Failed() (failed []*Application) {
	for i := range r.Applications {
		if r.Fails(r.Applications[i].Result) {
			failed = append(failed, &r.Applications[i])
		}
	}
	return failed
}

// sort puts the worst in front, and those of one result in the order of their names.
func (r *Run) sort() {
	order := Results()
	slices.SortStableFunc(r.Applications, func(a, b Application) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Result), slices.Index(order, b.Result)),
			text.Natural(a.Name, b.Name), text.Natural(a.File, b.File))
	})
}
