// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// retryable is what may succeed when it is sent again soon: passing states of the API, and writes that someone else's
// crossed. A field that another manager holds stays his.
func retryable(err error) bool {
	return cluster.Retryable(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) && !isHeld(err)
}

// isHeld reports whether a server-side apply met fields of another manager.
func isHeld(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}
