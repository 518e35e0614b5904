// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// RefusedError is a manifest that the API does not take. Applying it again cannot help, unless it passes.
type RefusedError struct {
	Key manifest.Key
	// Where is "file:line", or empty.
	Where string
	// Reason is what is wrong, in one line that begins with the field where there is one; Remedy is what to do.
	Reason, Remedy string
	Err            error
	// unsettled: right after its definition has changed, it may still be taken.
	unsettled bool
	// immutable: the manifest changes a field that cannot be changed.
	immutable bool
	// absent: the cluster serves nothing of the API group, which is not one of those that Kubernetes has built in.
	absent bool
	// passes: what has to admit the manifest is away, and may come back.
	passes bool
}

// Passes reports whether the same manifest may be taken later.
func (e *RefusedError) Passes() bool { return e.passes }

// Cause reports that the cluster lacks the kind, for which a CustomResourceDefinition has to be installed; it is empty
// for other refusals.
func (e *RefusedError) Cause() (kind, place string) {
	if e.absent {
		return "NO_CRD", e.Where
	}
	return "", ""
}

// Error is a line with the place, the object and the reason, and a second one with the next step where there is one.
func (e *RefusedError) Error() string { return inLines(e.Where, e.Key.Human()+": "+e.Reason, e.Remedy) }

func (e *RefusedError) Unwrap() error { return e.Err }

// Immutable reports whether the manifest changes a field that cannot be changed: the object has to be
// deleted and created again.
func (e *RefusedError) Immutable() bool { return e.immutable }

// inLines writes an error with its place and its next step, each of which may be empty.
func inLines(where, what, remedy string) string {
	var b strings.Builder
	if where != "" {
		b.WriteString(where + ": ")
	}
	b.WriteString(what)
	if remedy != "" {
		b.WriteString("\nnext step: " + remedy)
	}
	return b.String()
}
