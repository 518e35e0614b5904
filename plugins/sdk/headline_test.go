// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

type rest struct{ errs []error }

func (r *rest) Error() string   { return fmt.Sprintf("and %d more like these", len(r.errs)) }
func (r *rest) Unwrap() []error { return r.errs }

func TestTheReasonOfAStageIsTheFirstErrorWithItsNextStep(t *testing.T) {
	t.Parallel()
	one := errors.New("web.yaml:8: no such field\nnext step: write replicas")
	two := errors.New("db.yaml:2: no such kind\nnext step: install it")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"one line":               {errors.New("it failed"), "it failed"},
		"more lines are cut off": {errors.New("it panicked\nstack"), "it panicked"},
		"a next step":            {one, "web.yaml:8: no such field; next step: write replicas"},
		"a next step below more lines": {errors.New("it failed\nbecause\n  next step: fix it\n"),
			"it failed; next step: fix it"},
		"several": {errors.Join(one, two),
			"web.yaml:8: no such field (and 1 more in the log); next step: write replicas"},
		"several, wrapped": {fmt.Errorf("target eu: %w", errors.Join(one, two, two)),
			"target eu: web.yaml:8: no such field (and 2 more in the log); next step: write replicas"},
		"the next step of another is not that of the first": {errors.Join(errors.New("busy"), two),
			"busy (and 1 more in the log)"},
		"errors that stand for others": {errors.Join(one, two, &rest{[]error{two, two, two}}),
			"web.yaml:8: no such field (and 4 more in the log); next step: write replicas"},
		"several of several": {errors.Join(fmt.Errorf("eu: %w", errors.Join(one, two)), fmt.Errorf("us: %w",
			errors.Join(two, two))),
			"eu: web.yaml:8: no such field (and 3 more in the log); next step: write replicas"},
		"one that was joined to none": {errors.Join(one), "web.yaml:8: no such field; next step: write replicas"},
		"two errors in a line":        {fmt.Errorf("%w: %w", errors.New("a"), errors.New("b")), "a: b"},
	} {
		require.Equal(t, tt.want, headline(tt.err), name)
	}
}

func TestALongReasonIsCutAtARuneAndKeepsItsNextStep(t *testing.T) {
	t.Parallel()
	long := headline(errors.New(strings.Repeat("ä", 5000) + "\nnext step: shorten it"))
	require.True(t, utf8.ValidString(long))
	require.Equal(t, strings.Repeat("ä", maxHeadline/2)+"…; next step: shorten it", long)
}
