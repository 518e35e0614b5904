// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestACauseIsFoundBelowOtherErrorsAndNeverHidesAMistakeNextToIt(t *testing.T) {
	t.Parallel()
	missing := WithCause(errors.New("no matches for kind Certificate"), Cause{CauseNoCRD, "app/cert.yaml:2"})
	unreachable := WithCause(errors.New("no such host"), Cause{Kind: CauseUnreachable})
	mistake := errors.New("invalid")
	require.EqualError(t, missing, "no matches for kind Certificate")
	for name, c := range map[string]struct {
		err  error
		want Cause
	}{
		"alone":   {missing, Cause{CauseNoCRD, "app/cert.yaml:2"}},
		"wrapped": {fmt.Errorf("apply: %w", missing), Cause{CauseNoCRD, "app/cert.yaml:2"}},
		"several causes": {fmt.Errorf("apply: %w", errors.Join(missing, unreachable)),
			Cause{CauseNoCRD, "app/cert.yaml:2"}},
		"a mistake next to it":     {errors.Join(missing, mistake), Cause{}},
		"a mistake before it":      {errors.Join(mistake, missing), Cause{}},
		"an error without":         {mistake, Cause{}},
		"no error":                 {nil, Cause{}},
		"a cause around a mistake": {WithCause(mistake, Cause{Kind: CauseUnreachable}), Cause{Kind: CauseUnreachable}},
		"a program that is not installed": {fmt.Errorf("render: %w", &exec.Error{Name: "helm", Err: exec.ErrNotFound}),
			Cause{Kind: CauseNoProgram}},
		"a program that must not run here": {&exec.Error{Name: "helm", Err: exec.ErrDot}, Cause{}},
		"an empty cause on a cause":        {WithCause(missing, Cause{}), Cause{CauseNoCRD, "app/cert.yaml:2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, has := causeOf(c.err)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want.Kind != "", has)
		})
	}
}
