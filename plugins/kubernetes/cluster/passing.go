// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Passing reports whether a stage that failed by the error may succeed when it is executed again later, with the same
// manifests: the API could not be reached, is overloaded, or someone else has changed an object at the same time. Of
// several errors together, each must be so, and an error of anything else than a request is not.
func Passing(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var caused interface{ Cause() (kind, place string) }
	if errors.As(err, &caused) { // who has described it knows better
		return false
	}
	if several := joined(err); several != nil {
		for _, one := range several {
			if !Passing(one) {
				return false
			}
		}
		return len(several) > 0
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

// joined returns the errors that the nearest join in the chain of an error holds; nil when there is none.
func joined(err error) []error {
	for ; err != nil; err = errors.Unwrap(err) {
		if several, is := err.(interface{ Unwrap() []error }); is {
			return several.Unwrap()
		}
	}
	return nil
}
