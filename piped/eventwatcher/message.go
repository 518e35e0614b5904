// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package eventwatcher

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// traceTrailer is how a deployment finds the commit that an event came from (PipeCD v1).
const traceTrailer = "Pipecd-Dev-Trace-Trigger-Commit-Hash"

// maxMessage bounds a commit message, in bytes.
const maxMessage = 64 << 10

// message is the commit message of a rule, with the contexts of the event as trailers.
func (w *Watcher) message(e event, r *rule) string {
	text := fmt.Sprintf("Replace values with %q set by Event %q", e.GetData(), e.GetName())
	if r.config.CommitMessage != "" {
		text = r.config.CommitMessage
		if filled, err := fill(text, e); err == nil {
			text = filled
		} else {
			w.logger.Warn(
				"the commit message of an event is used as it stands", "event", e.GetName(), "rule", r.source, "error",
				err,
			)
		}
	}
	text = strings.TrimSpace(text)
	var trailers strings.Builder
	for _, name := range slices.Sorted(maps.Keys(e.GetContexts())) {
		fmt.Fprintf(&trailers, "%s: %s\n", oneLine(name), oneLine(e.GetContexts()[name]))
	}
	if commit := e.GetTriggerCommitHash(); commit != "" {
		fmt.Fprintf(&trailers, "%s: %s\n", traceTrailer, oneLine(commit))
	}
	if trailers.Len() == 0 {
		return text + "\n"
	}
	return text + "\n\n" + trailers.String()
}

func fill(text string, e event) (string, error) {
	parsed, err := template.New("commitMessage").Parse(text)
	if err != nil {
		return "", err
	}
	out := &limited{left: maxMessage}
	err = parsed.Execute(out, struct{ Value, EventName string }{e.GetData(), e.GetName()})
	return out.String(), err
}

// limited is a text that refuses to grow for ever.
type limited struct {
	strings.Builder
	left int
}

func (l *limited) Write(data []byte) (int, error) {
	if l.left -= len(data); l.left < 0 {
		return 0, fmt.Errorf("the message is longer than %d KiB", maxMessage>>10)
	}
	return l.Builder.Write(data)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
