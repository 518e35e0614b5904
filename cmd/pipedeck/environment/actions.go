// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
)

// actions writes for GitHub Actions when the process runs there; it does nothing elsewhere.
type actions struct {
	on bool
	// workspace is the directory of the checkout, summary the file of the step's summary.
	workspace, summary string
	// out gets workflow commands; groups is nil where lines of another form go to standard output.
	out, groups io.Writer
	begun       bool
}

func actionsOf(getenv func(string) string, mode OutputMode, out, errors io.Writer) actions {
	a := actions{on: getenv("GITHUB_ACTIONS") == "true", workspace: getenv("GITHUB_WORKSPACE"),
		summary: getenv("GITHUB_STEP_SUMMARY"), out: out, groups: out}
	if mode == outputJSON {
		a.out, a.groups = errors, nil
	}
	return a
}

// begin folds what follows, until the conclusion.
func (a *actions) begin(title string) {
	if a.on && a.groups != nil && !a.begun {
		a.begun = true
		report.BeginGroup(a.groups, title)
	}
}

// end ends what begin has begun.
func (a *actions) end() {
	if a.begun {
		a.begun = false
		report.EndGroup(a.groups)
	}
}

// stream is where events go: what a stage has written cannot be a workflow command there.
func (a *actions) stream(out io.Writer) io.Writer {
	if !a.on || a.groups == nil {
		return out
	}
	return harmless{out}
}

// logs writes the logs of what failed.
func (a *actions) logs(run report.Run) error {
	a.end()
	if !a.on || a.groups == nil {
		return nil
	}
	return report.Groups(a.groups, run)
}

// conclude writes annotations and the summary of the step.
func (a *actions) conclude(run report.Run) error {
	if !a.on {
		return nil
	}
	return errors.Join(report.Annotations(a.out, run, a.workspace), a.summarize(run))
}

func (a *actions) summarize(run report.Run) error {
	if a.summary == "" {
		return nil
	}
	file, err := os.OpenFile(a.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the summary of the step: %w", err)
	}
	_, err = file.Write(append(report.Markdown(run), '\n'))
	return errors.Join(err, file.Close())
}

// harmless breaks the older form of workflow commands. Lines of events begin with their time, so that they are none of
// the newer form.
type harmless struct{ to io.Writer }

func (h harmless) Write(p []byte) (int, error) {
	if _, err := h.to.Write(bytes.ReplaceAll(p, []byte("##["), []byte("## ["))); err != nil {
		return 0, err
	}
	return len(p), nil
}
