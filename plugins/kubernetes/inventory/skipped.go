// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxReason bounds what is said of why a kind was skipped, in bytes: an API may answer with a whole page.
const maxReason = 400

// Skipped is a kind that could not be asked for, or all kinds of one version of an API that does not answer.
type Skipped struct {
	// Group is that of the kind. Resource and Kind are empty for all kinds of a version.
	Group, Version, Resource, Kind string
	// Reason is what the API has answered; empty when the credentials may not list the kind.
	Reason string
	// Unseen is set when there may be objects of it. The others are gone with their kind, or have no list at all.
	Unseen bool
}

// String names what was skipped, as the API does, and the reason.
func (s Skipped) String() string {
	name := s.Name()
	if s.Reason == "" {
		return name
	}
	return name + " (" + s.Reason + ")"
}

// Name is what was skipped, as kubectl takes it: resource.group, or group/version for all of its kinds.
func (s Skipped) Name() string {
	switch {
	case s.Resource == "":
		return schema.GroupVersion{Group: s.Group, Version: s.Version}.String()
	case s.Group == "":
		return s.Resource
	}
	return s.Resource + "." + s.Group
}

// Words names kinds that were skipped, with the reasons.
func Words(skipped []Skipped) string {
	list := make([]string, len(skipped))
	for i, s := range skipped {
		list[i] = s.String()
	}
	return strings.Join(list, ", ")
}

// Covers reports whether an object is of the kind.
func (s Skipped) Covers(key manifest.Key) bool {
	return strings.EqualFold(s.Group, key.Group) && (s.Kind == "" || strings.EqualFold(s.Kind, key.Kind))
}

// skip is what to leave out because of an error that the API has given for one kind alone; false for an error of the
// API server itself.
func skip(r resource, err error) (Skipped, bool) {
	s := Skipped{Group: r.gvr.Group, Version: r.gvr.Version, Resource: r.gvr.Resource, Kind: r.kind}
	switch {
	case apierrors.IsForbidden(err):
		s.Unseen = true
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err):
	case isOfOthers(r, err):
		s.Reason, s.Unseen = reasonOf(err), true
	default:
		return Skipped{}, false
	}
	return s, true
}

// isOfOthers reports whether an error comes from what an API server asks for a kind that is not its own: the webhook
// that converts its objects, or the server of an aggregated API. When the API server itself is in trouble, its own
// kinds fail, too.
func isOfOthers(r resource, err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || isOwn(r.gvr.Group) || apierrors.IsServerTimeout(err) ||
		strings.Contains(err.Error(), "etcdserver:") {
		return false
	}
	switch status.Status().Code {
	case http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// isOwn reports whether every API server has the kinds of a group itself.
func isOwn(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == "apiextensions.k8s.io" ||
		group == "apiregistration.k8s.io"
}

// reasonOf is the message of an error on one line.
func reasonOf(err error) string {
	text := err.Error()
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		text = cmp.Or(status.Status().Message, text)
		if d := status.Status().Details; d != nil { // client-go keeps the text of a server that answers no Status here
			at := slices.IndexFunc(d.Causes, func(c metav1.StatusCause) bool {
				return c.Type == metav1.CauseTypeUnexpectedServerResponse && c.Message != ""
			})
			if at >= 0 && !strings.Contains(text, d.Causes[at].Message) {
				text += ": " + d.Causes[at].Message
			}
		}
	}
	if text = strings.Join(strings.Fields(text), " "); text == "" { // an empty reason stands for missing rights
		text = "the API answered without a message"
		if status != nil {
			text = fmt.Sprintf("the API answered with code %d and no message", status.Status().Code)
		}
	}
	if len(text) > maxReason {
		return strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}
