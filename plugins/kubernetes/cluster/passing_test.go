// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// described is an error that knows its cause, or that it has none.
type described struct{ error }

func (described) Cause() (kind, place string) { return "", "" }

func (d described) Unwrap() error { return d.error }

// away is a described error that knows that it passes.
type away struct{ described }

func (away) Passes() bool { return true }

func TestOnlyErrorsOfRequestsThatMaySucceedLaterPass(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	refused := &url.Error{Op: "Get", URL: "https://127.0.0.1:1", Err: syscall.ECONNREFUSED}
	conflict := apierrors.NewConflict(pods, "web", errors.New("changed"))
	held := apierrors.NewApplyConflict([]metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas"},
	}, "conflict")
	mistake := errors.New("deployment.yaml:3: no such field")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"the API is away":              {fmt.Errorf("list: %w", refused), true},
		"throttling":                   {apierrors.NewTooManyRequests("later", 1), true},
		"a conflict":                   {fmt.Errorf("apply: %w", conflict), true},
		"several that pass":            {fmt.Errorf("apply: %w", errors.Join(refused, conflict)), true},
		"fields of another manager":    {held, false},
		"one mistake among them":       {errors.Join(refused, mistake), false},
		"a mistake":                    {mistake, false},
		"an invalid object":            {apierrors.NewBadRequest("no"), false},
		"missing rights":               {apierrors.NewForbidden(pods, "web", errors.New("no")), false},
		"an error that has its cause":  {described{conflict}, false},
		"one that says that it passes": {fmt.Errorf("apply: %w", away{described{mistake}}), true},
		"several that say so":          {errors.Join(away{described{mistake}}, refused), true},
		"one among them that does not": {errors.Join(away{described{mistake}}, described{conflict}), false},
		"a wrong certificate":          {&url.Error{Err: &tls.CertificateVerificationError{Err: mistake}}, false},
		"a stage that was stopped":     {&url.Error{Err: context.Canceled}, false},
		"a stage that took too long":   {fmt.Errorf("wait: %w", context.DeadlineExceeded), false},
		"nothing":                      {nil, false},
	} {
		require.Equal(t, c.want, Passing(c.err), name)
	}
}
