// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// inquiry is what the cluster is asked about a refusal. Its functions may be nil, and what they return empty.
type inquiry struct {
	// live is the object as it is.
	live func() *unstructured.Unstructured
	// fields are the names of the fields next to a field of the kind, by the path of the field.
	fields func(path string) []string
}

// describe puts an error of the API into words. Errors that are not about the manifest only get its name.
func describe(err error, m manifest.Manifest, ask inquiry) error {
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
		refused.Where = m.At("metadata.namespace")
		refused.Reason = fmt.Sprintf("the namespace %q does not exist", m.GetNamespace())
		refused.Remedy = "create it, put it among the manifests, or set input.namespace to it and " +
			"input.autoCreateNamespace: true"
		return refused
	case isTooLarge(err):
		refused.Reason = "it is larger than the API takes: " + shorten(text)
		refused.Remedy = tooLargeRemedy
		return refused
	case apierrors.IsInvalid(err):
		return describeInvalid(err, refused, m, ask)
	case describeFields(refused, text, m, ask), describeConversion(refused, text, m):
		return refused
	case apierrors.IsBadRequest(err):
		refused.Reason = shorten(text)
		return refused
	}
	return fmt.Errorf("apply %s: %w", m.Key().Human(), err)
}

// isTooLarge recognises a request that is larger than the API reads, or an object that is larger than its store takes.
func isTooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || strings.Contains(err.Error(), "request is too large") ||
		strings.Contains(err.Error(), "trying to send message larger than max")
}

const tooLargeRemedy = "split it into several objects, or keep the data in a volume or in the image"

// problem is one thing that is wrong with a manifest.
type problem struct {
	// path is the field as the API names it, empty when that is not known; where is its place when it is not that of
	// the path.
	path, where  string
	text, remedy string
	// unknown: the kind does not have the field.
	unknown bool
}

func (p problem) String() string {
	if p.path == "" {
		return p.text
	}
	return p.path + ": " + p.text
}

// at is the place of the problem; empty for the manifest as a whole.
func (p problem) at(m manifest.Manifest) string {
	if p.where != "" || p.path == "" {
		return p.where
	}
	return m.At(p.path)
}

// line is the line of the problem; 0 when it has none.
func (p problem) line(m manifest.Manifest) int {
	at := p.at(m)
	n, _ := strconv.Atoi(at[strings.LastIndex(at, ":")+1:])
	return n
}

// take makes problems the reason, within a bound: the place and the next step are those of the first.
func (e *RefusedError) take(problems []problem, m manifest.Manifest) {
	var texts []string
	for i, p := range problems {
		if i == maxFields {
			texts = append(texts, fmt.Sprintf("%d more fields", len(problems)-i))
			break
		}
		texts = append(texts, p.String())
		if e.Remedy == "" {
			e.Remedy = p.remedy
		}
	}
	e.Reason = strings.Join(texts, "; ")
	e.Where = cmp.Or(problems[0].at(m), e.Where)
}

// normalPath writes a path as the loader does, without a leading dot.
func normalPath(path string) string {
	return strings.TrimPrefix(path, ".")
}

// longestMessage bounds what the API says of one field: it repeats whole objects in some.
const longestMessage = 600

// goText is how the API writes values of the types of Go.
var goText = regexp.MustCompile(`&value\.valueUnstructured\{Value:(.*)\}`)

// shorten returns a message of the API in one line and without the names of its types.
func shorten(s string) string {
	s = goText.ReplaceAllString(s, "$1")
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= longestMessage {
		return s
	}
	return strings.ToValidUTF8(s[:longestMessage], "") + "…"
}
