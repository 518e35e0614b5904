// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
)

// Annotations writes the workflow commands of GitHub Actions that show each failure at its file and line: errors for
// what fails the run, notices for what the environment lacks where that is allowed, warnings for those of
// configurations and of what runs. workspace is the directory of the checkout ($GITHUB_WORKSPACE), to which files are
// relative there; empty when it is not known.
func Annotations(w io.Writer, run Run, workspace string) error {
	var b strings.Builder
	prefix := below(workspace, run.Repository)
	named := false
	for i := range run.Applications {
		a := &run.Applications[i]
		for _, warning := range a.Warnings {
			place := warning.Place
			if place == nil {
				place = &Place{File: a.File}
			}
			annotate(&b, "warning", prefix, place, run.Title(a), warning.Text)
		}
		level := "error"
		switch {
		case a.Result == Unfinished && a.Deployment == "":
			continue // the run says why
		case run.BaseFailed && a.Result != Invalid:
			continue // HEAD is not the cause
		case run.Fails(a.Result):
			named = true
		case a.Result == Missing:
			level = "notice"
		case a.Result == Unhealthy:
			level = "warning"
		default:
			continue
		}
		place := a.Place
		if place == nil {
			place = &Place{File: a.File}
		}
		annotate(&b, level, prefix, place, run.Title(a)+": "+string(a.Result), Why(a))
	}
	if run.ExitCode != 0 && !named {
		fmt.Fprintf(&b, "::error title=pipedeck ci::%s\n", commandData(text.Line(run.Reason)))
	}
	if run.NothingToDeploy {
		fmt.Fprintf(&b, "::notice title=pipedeck ci::%s\n", commandData(text.Line(run.Reason)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func annotate(b *strings.Builder, level, prefix string, at *Place, title, message string) {
	fmt.Fprintf(b, "::%s file=%s", level, commandProperty(filepath.ToSlash(filepath.Join(prefix, text.Line(at.File)))))
	if at.Line > 0 {
		fmt.Fprintf(b, ",line=%d", at.Line)
	}
	if at.Column > 0 {
		fmt.Fprintf(b, ",col=%d", at.Column)
	}
	fmt.Fprintf(b, ",title=%s::%s\n", commandProperty(title), commandData(message))
}

// Groups writes the last lines of the logs of each application that fails the run, in a group that can be folded. Each
// line has its stage in front: what a stage has written cannot be a workflow command.
func Groups(w io.Writer, run Run) error {
	var b strings.Builder
	for _, a := range run.Failed() {
		begun := false
		for i := range a.Stages {
			s := &a.Stages[i]
			for _, line := range s.Log {
				if !begun {
					BeginGroup(&b, run.Title(a)+" "+string(a.Result))
					begun = true
				}
				b.WriteString(harmless(text.Line(s.Name)+" | "+strings.ReplaceAll(text.Clean(line), "\n", " ")) + "\n")
			}
		}
		if begun {
			EndGroup(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// BeginGroup begins a group of lines in the log of a job.
func BeginGroup(w io.Writer, title string) {
	fmt.Fprintf(w, "::group::%s\n", commandData(text.Line(title)))
}

// EndGroup ends the group.
func EndGroup(w io.Writer) { fmt.Fprintln(w, "::endgroup::") }

// harmless breaks the older form of workflow commands, which counts in the middle of a line, too.
func harmless(s string) string { return strings.ReplaceAll(s, "##[", "## [") }

// commandData escapes what follows the second pair of colons.
func commandData(s string) string {
	return harmless(strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s))
}

// commandProperty escapes the value of a property.
func commandProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandData(s))
}

// below is the path from the workspace to the repository in it; empty for a repository elsewhere.
func below(workspace, repository string) string {
	if workspace == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(workspace); err == nil {
		workspace = real
	}
	if real, err := filepath.EvalSymlinks(repository); err == nil {
		repository = real
	}
	path, err := filepath.Rel(workspace, repository)
	if err != nil || !filepath.IsLocal(path) {
		return ""
	}
	return path
}
