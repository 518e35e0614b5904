// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/kind/pkg/exec"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// shownLines of a command's output are enough to see why it failed; the log has them all.
const (
	shownLines  = 12
	shownInLine = 300
	// searchedBytes is how much of it is searched for known failures.
	searchedBytes = 64 << 10
)

// foreignError is a cluster that has our name and is not ours.
type foreignError struct{ name string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("there is a cluster %s already, and no record says that pipedeck has made it for this "+
		"environment", e.name)
}

func notOurs(engine *engineCommand, name string, nodes []string) error {
	return &cluster.HintError{
		Err: &foreignError{name},
		Hint: fmt.Sprintf("if it is not needed, remove it with %s rm -f -v %s; or choose another --name",
			engine.name, strings.Join(nodes, " ")),
	}
}

// known are the failures whose next step is known, by the words of the engines.
var known = []struct {
	words *regexp.Regexp
	hint  string
}{
	{regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`),
		"make room on the disk of the container engine, for example with docker system prune"},
	{regexp.MustCompile(`(?i)port is already allocated|address already in use|ports are not available`),
		"end what listens on that port, or choose another in the file given by --kind-config"},
	{regexp.MustCompile(`(?i)cannot connect to the docker daemon|failed to connect to the docker API|` +
		`error during connect|connection refused|unexpected EOF|is the docker daemon running`),
		"start the container engine, then run pipedeck up again"},
	{regexp.MustCompile(`(?i)permission denied.*(docker|podman|containerd)[^ ]*\.sock`),
		"let your user use the container engine, for example by the group docker"},
	{regexp.MustCompile(`(?i)too many open files|inotify`),
		"raise the limits of inotify: sudo sysctl fs.inotify.max_user_watches=524288 " +
			"fs.inotify.max_user_instances=512"},
}

// taken are kind's words for a cluster of the same name.
const taken = "already exist for a cluster with the name"

// explain adds the last words of the command that failed, and the next step where it is known.
func (p *Provider) explain(err error) error {
	said := err.Error()
	var failed *exec.RunError
	if errors.As(err, &failed) {
		said += "\n" + string(failed.Output[max(0, len(failed.Output)-searchedBytes):])
	}
	if strings.Contains(said, taken) {
		return &cluster.HintError{Err: &foreignError{p.name}, Hint: "choose another --name"}
	}
	if failed != nil {
		err = &libraryError{summarize(err, failed) + ": " + lastLines(failed.Output), err}
	}
	for _, k := range known {
		if k.words.MatchString(said) {
			return &cluster.HintError{Err: err, Hint: k.hint}
		}
	}
	return &cluster.HintError{Err: err, Hint: "see " + p.LogFile}
}

// libraryError is one of kind's without the whole command, which the log has.
type libraryError struct {
	summary string
	err     error
}

func (e *libraryError) Error() string { return e.summary }

func (e *libraryError) Unwrap() error { return e.err }

// summarize returns what kind tried, or else the beginning of the command.
func summarize(err error, failed *exec.RunError) string {
	tried, _, _ := strings.Cut(err.Error(), "command \"")
	if tried = strings.TrimSuffix(tried, ": "); tried != "" {
		return tried
	}
	return strings.Join(failed.Command[:min(2, len(failed.Command))], " ") + " failed"
}

// lastLines returns the end of an output without stack traces, bounded.
func lastLines(output []byte) string {
	text := strings.TrimSpace(string(output[max(0, len(output)-searchedBytes):]))
	lines := withoutTraces(strings.Split(text, "\n"))
	lines = lines[max(0, len(lines)-shownLines):]
	for i, line := range lines {
		if len(line) > shownInLine {
			// What went wrong is often said last, after long paths.
			lines[i] = strings.ToValidUTF8(line[:shownInLine/2]+" … "+line[len(line)-shownInLine/2:], "")
		}
	}
	return strings.Join(lines, "\n")
}

// withoutTraces drops the pairs of lines in which Go prints a call: the function, then its place
// after a tab. kubeadm ends its output with dozens of them.
func withoutTraces(lines []string) []string {
	var kept []string
	for _, line := range lines {
		switch {
		case !strings.HasPrefix(line, "\t"):
			kept = append(kept, line)
		case len(kept) > 0 && !strings.Contains(strings.TrimSpace(kept[len(kept)-1]), " "):
			kept = kept[:len(kept)-1]
		}
	}
	return kept
}
