// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Passing reports whether a stage that failed by the error may succeed when it is executed again later, with the same
// manifests: the API could not be reached, is overloaded, or someone else has changed an object at the same time. Of
// several errors together, each must be so, and an error of anything else than a request is not. An error with a method
// Passes says so itself.
func Passing(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	for one := err; one != nil; one = errors.Unwrap(one) {
		if known, is := one.(interface{ Passes() bool }); is {
			return known.Passes()
		}
		if _, is := one.(interface{ Cause() (kind, place string) }); is { // who has described it knows better
			return false
		}
		if several, is := one.(interface{ Unwrap() []error }); is {
			return allPass(several.Unwrap())
		}
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		held := apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
		return Retryable(err) || apierrors.IsConflict(err) && !held
	}
	var request *url.Error
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &request) && !errors.As(err, &certificate)
}

// allPass reports whether all of the errors, at least one, pass.
func allPass(several []error) bool {
	return len(several) > 0 && !slices.ContainsFunc(several, func(one error) bool { return !Passing(one) })
}
