// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// test runs the tests of the new commit, as `helm test` does: hooks that have to end without a failure.
func (e *Executor) test(ctx context.Context, req *Request) error {
	loaded, err := e.load(ctx, req, req.Target)
	if err != nil {
		return err
	}
	h, err := e.hooksOf(req, loaded)
	if err != nil {
		return err
	}
	tests := h.plan.At(phase.Test)
	if len(tests) == 0 {
		req.Log.Info("There are no tests: no manifest has the annotation helm.sh/hook: test")
		return nil
	}
	if h.client, err = e.connect(ctx, req); err != nil {
		return err
	}
	return h.run(ctx, phase.Test)
}
