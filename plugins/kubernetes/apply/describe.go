// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// RefusedError is a manifest that the API does not take. Applying it again cannot help.
type RefusedError struct {
	Key manifest.Key
	// Where is "file:line", or empty.
	Where string
	// Reason is what the API said, in short; Remedy is what to do.
	Reason, Remedy string
	Err            error
	// unsettled: right after its definition has changed, it may still be taken.
	unsettled bool
	// immutable: the manifest changes a field that cannot be changed.
	immutable bool
	// absent: the cluster serves nothing of the API group, which is not one of those that Kubernetes has built in.
	absent bool
}

// Cause reports that the cluster lacks the kind, for which a CustomResourceDefinition has to be installed; it is empty
// for other refusals.
func (e *RefusedError) Cause() (kind, place string) {
	if e.absent {
		return "NO_CRD", e.Where
	}
	return "", ""
}

func (e *RefusedError) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.Key.Human() + ": " + e.Reason)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

func (e *RefusedError) Unwrap() error { return e.Err }

// Immutable reports whether the manifest changes a field that cannot be changed: the object has to be
// deleted and created again.
func (e *RefusedError) Immutable() bool { return e.immutable }

var (
	// Server-side apply: ".spec.replica: field not declared in schema".
	undeclared = regexp.MustCompile(`\.([^\s:]+): field not declared in schema`)
	// Create and update: strict decoding error: unknown field "spec.replica".
	unknown = regexp.MustCompile(`unknown field "([^"]+)"`)
	// Server-side apply of a wrong type: ".spec.replicas: expected numeric (int or float), got string".
	mistyped = regexp.MustCompile(`\.([^\s:]+): (expected [^\n]+)`)
	// How the API writes the value there: "&value.valueUnstructured{Value:1}".
	rawValue = regexp.MustCompile(`&value\.valueUnstructured\{Value:(.*)\}`)
)

// describe puts an error of the API into words. Errors that are not about the manifest only get its name.
func describe(err error, m manifest.Manifest) error {
	if refused, done := errors.AsType[*RefusedError](err); done {
		return refused
	}
	text := err.Error()
	refused := &RefusedError{Key: m.Key(), Where: m.Origin.String(), Err: err}
	switch {
	case isHeld(err):
		return describeConflict(err, refused, m)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		refused.Reason = fmt.Sprintf("the namespace %s is being deleted, so nothing can be created in it",
			m.GetNamespace())
		refused.Remedy = "deploy again when it is gone, with input.autoCreateNamespace: true or with the " +
			"Namespace among the manifests"
		return refused
	case describeAdmission(refused, text):
		return refused
	case apierrors.IsForbidden(err):
		if d := denied(err, m); d != nil {
			return d
		}
		refused.Reason = "the API forbids it: " + shorten(text)
		return refused
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("apply %s: the API does not take the credentials of the kubeconfig any more (401 "+
			"Unauthorized); renew them: %w", m.Key().Human(), err)
	case apierrors.IsNotFound(err) && strings.Contains(text, "namespaces "):
		refused.Reason = fmt.Sprintf("the namespace %q does not exist", m.GetNamespace())
		refused.Remedy = "create it, or set input.autoCreateNamespace: true and input.namespace"
		return refused
	case apierrors.IsInvalid(err):
		return describeInvalid(err, refused, m)
	}
	for _, pattern := range []*regexp.Regexp{undeclared, unknown} {
		if found := pattern.FindStringSubmatch(text); found != nil {
			path := normalPath(found[1])
			refused.Where = m.At(path)
			refused.Reason = fmt.Sprintf("the field %s does not exist in %s %s", path, m.GetAPIVersion(), m.GetKind())
			refused.Remedy = "look for a misspelling or a wrong indentation"
			refused.unsettled = true
			return refused
		}
	}
	if found := mistyped.FindStringSubmatch(text); found != nil {
		path := normalPath(found[1])
		refused.Where = m.At(path)
		what := rawValue.ReplaceAllString(found[2], "$1")
		if m.Is(manifest.KindSecret) { // the value may be the secret
			what, _, _ = strings.Cut(what, ", got ")
		}
		refused.Reason = fmt.Sprintf("the field %s has the wrong type: %s", path, what)
		if strings.HasPrefix(found[2], "expected string") {
			refused.Remedy = "put the value in quotes"
		}
		return refused
	}
	if apierrors.IsBadRequest(err) {
		refused.Reason = text
		return refused
	}
	return fmt.Errorf("apply %s: %w", m.Key().Human(), err)
}

// describeInvalid lists the fields that the API does not accept, the first one with its line.
func describeInvalid(err error, refused *RefusedError, m manifest.Manifest) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		refused.Reason = err.Error()
		return refused
	}
	var reasons []string
	immutable := false
	for i, cause := range status.Status().Details.Causes {
		if i == 0 {
			refused.Where = m.At(normalPath(cause.Field))
		}
		immutable = immutable || saysImmutable(cause.Message)
		reasons = append(reasons, cause.Field+": "+shorten(cause.Message))
	}
	refused.Reason, refused.unsettled = strings.Join(reasons, "; "), true
	refused.immutable = immutable
	if immutable {
		refused.Remedy = fmt.Sprintf("the field cannot be changed in place: set metadata.annotations[%q]: %s in "+
			"the manifest to delete and create it again "+
			"(its pods go with it; %s keeps it, but cannot change this field either), or give it a new name",
			manifest.AnnotationForceReplace, manifest.Enabled, manifest.AnnotationReplace)
	}
	return refused
}

// immutables are the API's words for fields that cannot be changed.
var immutables = []string{
	"immutable", "may not change once set", "cannot change roleRef",
	"updates to statefulset spec for fields other than",
	"pod updates may not change fields other than", "updates to parameters are forbidden",
	"updates to provisioner are forbidden",
}

func saysImmutable(text string) bool {
	return slices.ContainsFunc(immutables, func(words string) bool { return strings.Contains(text, words) })
}

// normalPath writes a path as the loader does, without a leading dot.
func normalPath(path string) string {
	return strings.TrimPrefix(path, ".")
}

// longestMessage bounds one reason: the API repeats whole objects in some.
const longestMessage = 600

func shorten(s string) string {
	if len(s) <= longestMessage {
		return s
	}
	return strings.ToValidUTF8(s[:longestMessage], "") + "…"
}
