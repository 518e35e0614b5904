// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/ci"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// results gathers what a run of ci reports when it ends, however it ends.
type results struct {
	files        report.Files
	allowMissing bool
	// allowUnhealthy is --allow-unhealthy.
	allowUnhealthy bool
	exclude        []string

	exclusions exclusions
	// unselected are the configuration files of applications that appSelector leaves out.
	unselected map[string]bool
	// untouched says that there is nothing to deploy, because the commits of --from touch no application; empty for
	// other runs.
	untouched string

	mode        OutputMode
	out, errOut io.Writer
	actions     actions
	facts       report.Facts
	logs        report.Logs
}

// register adds the flags.
func (r *results) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&r.files.JUnit, "junit", nil, "write the results to this file as JUnit XML")
	flags.StringArrayVar(&r.files.Reports, "report", nil,
		"write the results to this file: Markdown for .md, JSON for .json")
	flags.BoolVar(&r.allowMissing, "allow-missing", false, "applications for which the environment lacks a plugin, a "+
		"CustomResourceDefinition, a host, a key or a program do not fail the run")
	flags.BoolVar(&r.allowUnhealthy, "allow-unhealthy", false, "applications that are deployed and not healthy do not "+
		"fail the run")
	flags.StringArrayVar(&r.exclude, "exclude", nil,
		"do not deploy these applications: label:KEY=VALUE, path:GLOB or a path in the repository")
}

// begin finds mistakes in the flags.
func (r *results) begin(mode OutputMode, out, errOut io.Writer) error {
	r.mode, r.out, r.errOut = mode, out, errOut
	r.actions = actionsOf(os.Getenv, mode, out, errOut)
	r.facts = report.Facts{Started: time.Now(), AllowMissing: r.allowMissing,
		AllowUnhealthy: r.allowUnhealthy, Logs: &r.logs}
	var err error
	if r.exclusions, err = readExclusions(r.exclude); err != nil {
		return exit.Usage(err, "see pipedeck ci --help")
	}
	return fileUsage(r.files.Check())
}

// fileUsage is the error of a file that cannot be written.
func fileUsage(err error) error {
	if file := (*report.FileError)(nil); errors.As(err, &file) {
		return exit.Usage(err, file.Hint)
	}
	return err
}

// opened notes the repository.
func (r *results) opened(repository *workspace.Repository) {
	r.facts.Root, r.facts.Head = repository.Root, repository.Head
}

// take notes what is to be deployed, and what --exclude and appSelector leave out.
func (r *results) take(checked []*workspace.Checked) {
	r.facts.Checked = checked
	r.exclusions.apply(r, checked)
}

// warnUnused names each --exclude that leaves nothing out, at HEAD or at the base.
func (r *results) warnUnused(warn func(words string)) {
	for _, unused := range r.exclusions.unused() {
		words := "warning: --exclude " + unused + " names no application at HEAD"
		if r.facts.Base != "" {
			words += " or at the base"
		}
		warn(words)
	}
}

// compared notes the base, and what the range does to each application. What is left out is deployed at neither commit.
func (r *results) compared(of *ci.Range) error {
	r.exclusions.apply(r, of.Checked)
	if err := of.LeaveOut(func(file string) bool { return !r.deploys(file) }); err != nil {
		return err
	}
	r.facts.Base, r.facts.Touched = of.Base.Head, map[string]bool{}
	r.facts.ByHand = map[string]report.Verdict{}
	for _, a := range of.Applications {
		r.facts.Touched[a.File] = a.Touched && !r.unselected[a.File]
		switch a.Fate {
		case ci.Removed:
			r.facts.Removed = append(r.facts.Removed, report.Application{Name: a.Name, File: a.File})
		case ci.Manual:
			r.facts.ByHand[a.File] = report.Verdict{Result: report.Manual, Reason: a.Why}
		case ci.Undeployed:
			r.facts.ByHand[a.File] = report.Verdict{Result: report.Undeployed, Reason: a.Why}
		case ci.Unchanged:
			if of.Changed && r.deploys(a.File) {
				r.leaveOut(a.File, report.Unchanged, "the commits do not touch it")
			}
		}
	}
	return nil
}

// whole notes what a run without --from does not deploy of the repository, and returns the repository that knows that.
func (r *results) whole(repository *workspace.Repository) (*workspace.Repository, error) {
	byHand, err := ci.ByHand(repository, func(file string) bool { return !r.deploys(file) })
	if err != nil {
		return nil, err
	}
	known := *repository
	known.Manual, r.facts.ByHand = nil, map[string]report.Verdict{}
	for _, one := range r.facts.Checked {
		if why, is := byHand[one.File]; is {
			known.Manual = append(known.Manual, one.Name)
			r.facts.ByHand[one.File] = report.Verdict{Result: report.Manual, Reason: why}
		}
	}
	return &known, nil
}

// gone notes the applications that HEAD has removed.
func (r *results) gone(of *ci.Outcome) {
	r.facts.Gone = map[string]report.Gone{}
	for _, one := range of.Removals() {
		if one.Moved != "" {
			isIt := func(a report.Application) bool { return a.File == one.File }
			r.facts.Removed = slices.DeleteFunc(r.facts.Removed, isIt)
		} else if one.App != nil {
			r.facts.Gone[one.File] = report.Gone{
				Name: one.App.GetName(), Labels: one.App.GetLabels(), Deployment: one.Deployment, Reason: one.Text(),
			}
		}
	}
}

// tolerates reports a deployment that has failed by what the environment may lack.
func (r *results) tolerates(d *deckv1.Deployment) bool {
	if cause, _ := report.CauseOf(d); !r.allowMissing || cause != "" || len(d.GetStages()) > 0 {
		return r.allowMissing && cause != ""
	}
	app := r.facts.Deck.Application(d.GetApplicationId())
	return slices.ContainsFunc(r.facts.Checked, func(one *workspace.Checked) bool {
		return one.File == report.FileOf(app) && one.NoPlugin()
	})
}

// leaveOut notes that an application is not deployed, by its configuration file.
func (r *results) leaveOut(file string, result report.Result, why string) {
	if r.facts.Aside == nil {
		r.facts.Aside = map[string]report.Verdict{}
	}
	r.facts.Aside[file] = report.Verdict{Result: result, Reason: why}
}

// unselect notes that appSelector leaves an application out.
func (r *results) unselect(file string) {
	if r.unselected == nil {
		r.unselected = map[string]bool{}
	}
	r.unselected[file] = true
	r.leaveOut(file, report.Excluded, "appSelector of the piped configuration does not select it")
}

// deploys reports whether the application with a configuration file is deployed.
func (r *results) deploys(file string) bool { return r.facts.Aside[file].Result == "" }

// apply keeps what is left out from being registered; nil leaves nothing out.
func (r *results) apply(o *env.Options) {
	if r != nil && o.Selects == nil {
		o.Selects = watched(r.deploys)
	}
}

// mistakes is the error of the configurations that are deployed; nil without mistakes. What the environment lacks is no
// mistake where that is allowed.
func (r *results) mistakes() error {
	var all []error
	hint := "run it with the plugins, --plugin NAME=PATH adds one; or add --allow-missing, which only reports these " +
		"applications; or leave them out with --exclude"
	for _, one := range r.facts.Checked {
		switch {
		case len(one.Errors) == 0, !r.deploys(one.File), r.allowMissing && one.NoPlugin():
			continue
		case !one.NoPlugin():
			hint = "correct the file, commit it, and run again"
		}
		all = append(all, one.Errors...)
	}
	if len(all) == 0 {
		return nil
	}
	return exit.Usage(errors.Join(all...), cmp.Or(severalClusters(all...), hint))
}

// withoutDeployments ends a run whose commits leave nothing to deploy. Commits that touch no application are no reason
// to fail; every other reason is.
func (r *results) withoutDeployments(of *ci.Range) error {
	for _, touched := range r.facts.Touched {
		if touched {
			return verdict(r.run(time.Now()))
		}
	}
	if !slices.ContainsFunc(append(slices.Clone(r.facts.Checked), of.Checked...), func(one *workspace.Checked) bool {
		return !r.unselected[one.File]
	}) {
		return nothingDeployed(r.run(time.Now()))
	}
	r.untouched = "nothing to deploy: " + of.Untouched()
	return nil
}

// nothing is the error of a run that has no application to deploy; nil for others.
func (r *results) nothing() error {
	for _, one := range r.facts.Checked {
		if r.deploys(one.File) && len(one.Errors) == 0 && r.facts.ByHand[one.File].Result == "" {
			return nil
		}
	}
	if len(r.facts.Removed) > 0 {
		return nil
	}
	return verdict(r.run(time.Now()))
}

// see takes each state of the environment, which stays readable when it has ended.
func (r *results) see(deck *state.Deck) { r.facts.Deck = deck }

// run is the report at a time.
func (r *results) run(now time.Time) report.Run {
	facts := r.facts
	facts.Ended = now
	return report.Build(facts)
}

// conclude writes the results of a run that ended with err, and returns how the command ends.
func (r *results) conclude(err error) error {
	run := r.run(time.Now())
	if err == nil && len(run.Failed()) > 0 {
		err = verdict(run)
	}
	run.ExitCode, run.Reason = codeAndReason(err)
	if run.ExitCode == exit.OK {
		run.NothingToDeploy = r.untouched != ""
		run.Reason = cmp.Or(r.untouched, report.Summary(run))
	}
	failed := fileUsage(r.files.Write(run))
	// The files are there also when no one reads the output.
	var lost error
	written := errors.Join(r.actions.logs(run), r.show(run), r.actions.conclude(run))
	if exit.IsOutput(written) {
		written, lost = nil, written // which exit.Run says
	}
	if problem := errors.Join(failed, written); problem != nil && err != nil {
		// The end of the run comes first, and one error is printed.
		fmt.Fprintln(r.errOut, "pipedeck:", text.Clean(problem.Error()))
		return err
	}
	if written != nil && failed == nil {
		return exit.With(exit.Failed, fmt.Errorf("write the results: %w", written),
			"see that the output can be written")
	}
	return cmp.Or(err, failed, lost)
}

// show writes the results to standard output.
func (r *results) show(run report.Run) error {
	out := r.actions.stream(r.out)
	if r.mode == outputJSON {
		return report.Lines(out, run)
	}
	if len(run.Applications) == run.Count(report.Unfinished) && r.facts.Deck == nil {
		return nil // the error says all
	}
	switch r.mode {
	case outputReader:
		return report.Sentences(out, run)
	}
	fmt.Fprintln(out)
	return report.Table(out, run, width(r.out))
}

// width is how many columns a table may have.
func width(out io.Writer) int {
	if terminal, is := format.Terminal(out); is {
		if columns, _, err := term.GetSize(terminal); err == nil && columns > 0 {
			return columns
		}
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return 100
}

// expects reports a problem of the environment that is the configuration of an application which does not fail the run:
// one that is left out, or for which the environment may lack something.
func (r *results) expects(p *deckv1.Problem) bool {
	for file := range r.facts.Aside {
		if strings.HasPrefix(p.GetPart(), "configuration of "+file+" in repository ") {
			return true // an application without a name, and so without an id
		}
	}
	if p.GetApplicationId() == "" || r.facts.Deck == nil {
		return false
	}
	app := r.facts.Deck.Application(p.GetApplicationId())
	file := report.FileOf(app)
	if !r.deploys(file) {
		return true
	}
	run := r.run(time.Now())
	return r.allowMissing && slices.ContainsFunc(pick(run, report.Missing), func(a *report.Application) bool {
		return a.File == file
	})
}

// watch returns options of a reader with what the results need.
func (r *results) watch(o reader.Options) reader.Options {
	until := o.Until
	o.Until = func(d *state.Deck) bool {
		r.see(d)
		return until(d)
	}
	o.OnChange = r.logs.Add
	return o
}
