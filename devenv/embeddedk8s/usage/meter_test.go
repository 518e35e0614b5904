// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/localpods"
)

var web = types.NamespacedName{Namespace: "default", Name: "web"}

// halfBusy is a source whose one container uses half a processor since its start.
type halfBusy struct {
	started time.Time
	run     string
	looks   int
}

func (s *halfBusy) Usage() ([]localpods.ContainerUsage, error) {
	s.looks++
	return []localpods.ContainerUsage{{
		Pod: web, Container: "main", Run: s.run, StartedAt: s.started,
		Usage: containers.Usage{CPU: int64(time.Since(s.started) / 2), Memory: 7 << 20},
	}}, nil
}

func TestUseIsMeasuredOnlyWhenSomeoneAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &halfBusy{started: time.Now(), run: "1"}
		meter := New(clock.RealClock{})
		_, err := meter.Measure(t.Context())
		require.ErrorIs(t, err, ErrSimulated)
		meter.Attach(source)
		ask := func(looks int, window time.Duration) {
			t.Helper()
			before := source.looks
			result, err := meter.Measure(t.Context())
			require.NoError(t, err)
			require.Equal(t, Container{500, 7 << 20}, result.Pods[web].Total())
			require.Equal(t, window, result.Pods[web].Window)
			require.Equal(t, looks, source.looks-before)
		}
		time.Sleep(time.Hour)
		require.Zero(t, source.looks)
		ask(2, time.Second)
		ask(0, time.Second)
		time.Sleep(15 * time.Second)
		ask(1, 15*time.Second)
		time.Sleep(2 * time.Minute)
		ask(2, time.Second)

		source.started, source.run = time.Now().Add(5*time.Second), "2"
		time.Sleep(15 * time.Second)
		ask(1, 10*time.Second) // since its start
		time.Sleep(10 * time.Second)
		source.started, source.run = time.Now(), "3"
		result, err := meter.Measure(t.Context())
		require.NoError(t, err)
		require.Empty(t, result.Pods, "it is too young")
	})
}
