// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestAnUnknownTimeOfCreationIsTheTimeOfTheLook(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 5)
	for name, c := range map[string]struct {
		created time.Time
		want    int64
	}{
		"not known":       {time.Time{}, 1000},
		"long ago":        {time.Unix(5, 0), 5},
		"in this second":  {now, 999},
		"by a fast clock": {now.Add(time.Minute), 999},
	} {
		sent := (&ResourceState{CreatedAt: c.created}).wire("fleet", now)
		require.Equal(t, c.want, sent.GetCreatedAt(), name)
		require.EqualValues(t, 1000, sent.GetUpdatedAt(), name)
	}
}
