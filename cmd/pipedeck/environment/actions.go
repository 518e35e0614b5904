// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/system/plainerror"
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

// stream is where events and results go: what a stage or a chart has written cannot be a workflow command there.
func (a *actions) stream(out io.Writer) io.Writer {
	switch {
	case !a.on:
		return out
	case a.groups == nil:
		return harmless{out, `#\u0023[`} // the same for who reads JSON
	}
	return harmless{out, brokenCommand}
}

// quote is stream for a text.
func (a *actions) quote(words string) string {
	if !a.on {
		return words
	}
	return strings.ReplaceAll(words, oldCommand, brokenCommand)
}

// quoteError is stream for the error that the command ends with.
func (a *actions) quoteError(err error) error {
	failure := (*exit.Error)(nil)
	if !a.on || !errors.As(err, &failure) || failure.Err == nil {
		return err
	}
	return exit.With(failure.Code, errors.New(a.quote(plainerror.Text(failure.Err))), a.quote(failure.Hint))
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

// oldCommand begins a workflow command of the older form, anywhere in a line.
const oldCommand, brokenCommand = "##[", "## ["

// harmless breaks the older form of workflow commands. Lines of events begin with their time, and those of results with
// a name or blanks, so that they are none of the newer form.
type harmless struct {
	to      io.Writer
	instead string
}

func (h harmless) Write(p []byte) (int, error) {
	if _, err := h.to.Write(bytes.ReplaceAll(p, []byte(oldCommand), []byte(h.instead))); err != nil {
		return 0, err
	}
	return len(p), nil
}
