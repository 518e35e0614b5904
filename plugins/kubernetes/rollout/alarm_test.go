// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnAlarmRingsAtTheTimeThatWasSetLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		alarm := newAlarm()
		defer alarm.stop()
		silent := func() {
			t.Helper()
			select {
			case <-alarm.rings():
				require.Fail(t, "it is not to ring")
			case <-time.After(time.Hour):
			}
		}
		silent()
		alarm.set(began)
		alarm.set(time.Time{})
		silent()
		start := time.Now()
		alarm.set(start.Add(time.Hour))
		alarm.set(start.Add(time.Minute))
		<-alarm.rings()
		require.Equal(t, time.Minute, time.Since(start))
		silent()
		alarm.set(start)
		<-alarm.rings()
		require.Equal(t, time.Minute+time.Hour, time.Since(start), "at once, because that time has passed")
	})
}
