// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// backoff bounds the repetition of a request.
type backoff struct {
	first time.Duration
	tries int
}

var defaultBackoff = backoff{first: 200 * time.Millisecond, tries: 6}

func (b backoff) do(ctx context.Context, request func() error) error {
	pauses := cluster.Pauses(b.first, b.first<<b.tries)
	for try := 1; ; try++ {
		err := request()
		if err == nil || ctx.Err() != nil || try >= b.tries || !retryable(err) {
			return err
		}
		if err := cluster.Wait(ctx, pauses); err != nil {
			return err
		}
	}
}

// retryable is what may succeed when it is sent again soon: passing states of the API, and writes that someone else's
// crossed. A field that another manager holds stays his.
func retryable(err error) bool {
	return cluster.Retryable(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) && !isHeld(err)
}

// isHeld reports whether a server-side apply met fields of another manager.
func isHeld(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}
