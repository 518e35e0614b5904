// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// codeAndReason is how a command ends by an error.
func codeAndReason(err error) (code int, reason string) {
	if err == nil {
		return exit.OK, "done"
	}
	failure := (*exit.Error)(nil)
	if !errors.As(err, &failure) {
		return exit.NotStarted, err.Error()
	}
	switch {
	case failure.Code == exit.ReaderGone:
		return failure.Code, "no one reads the output any more"
	case failure.Err == nil:
		return failure.Code, "interrupted"
	}
	return failure.Code, failure.Err.Error()
}

// maxNamed bounds how many failures one error names; the table has all.
const maxNamed = 5

// verdict is the error of a run that has come to its end; nil when everything was deployed.
func verdict(run report.Run) error {
	if broken := pick(run, report.Invalid); len(broken) > 0 {
		return exit.Usage(errors.New(named(run, broken)), "correct the file, commit it, and run again")
	}
	if failed := run.Failed(); len(failed) > 0 {
		words := named(run, failed)
		if len(failed) > 1 {
			words = fmt.Sprintf("%d of %s failed: %s", len(failed),
				line.Count(len(run.Applications), "application"), words)
		}
		hint := "see the stage logs above; --keep keeps the environment to look at"
		switch len(failed) {
		case run.Count(report.Unhealthy):
			hint = "fix what the reason names, with --keep the environment stays to look at; or add " +
				"--allow-unhealthy, which only reports these applications"
		case run.Count(report.Undeployed):
			hint = "deploy HEAD without --from; or enable a trigger of these applications; or leave them out with " +
				"--exclude"
		}
		return exit.With(exit.Failed, errors.New(words), hint)
	}
	if run.DeploysNothing() {
		return nothingDeployed(run)
	}
	return nil
}

func pick(run report.Run, result report.Result) (list []*report.Application) {
	for i := range run.Applications {
		if run.Applications[i].Result == result {
			list = append(list, &run.Applications[i])
		}
	}
	return list
}

// named says why applications have failed.
func named(run report.Run, list []*report.Application) (words string) {
	for _, a := range list[:min(len(list), maxNamed)] {
		if words != "" {
			words += "; "
		}
		words += run.Title(a) + ": "
		if a.Result != report.Invalid {
			words += string(a.Result) + ": "
		}
		words += cmp.Or(report.Why(a), "no reason was reported")
	}
	if more := len(list) - maxNamed; more > 0 {
		words += fmt.Sprintf("; and %d more, which the table above has", more)
	}
	return words
}

func nothingDeployed(run report.Run) error {
	words := "no application was deployed"
	if slices.ContainsFunc(run.Applications, func(a report.Application) bool { return a.Touched }) {
		words += " that the commits touch"
	}
	return exit.With(exit.Failed, errors.New(words+": "+report.Summary(run)),
		"the table says why; see pipedeck ci --help")
}
