// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"
)

func TestALogThatGrowsAllTheTimeIsDrawnLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newStageLog(t.Context(), time.After, logKey{deployment: "dep-1", stage: "s3"}, 0)
		defer l.cancel()
		grown, done := make(chan logMsg, 1), make(chan struct{})
		sent := 0
		go func() {
			defer close(done)
			l.pass(grown, func(tea.Msg) { sent++ })
		}()
		grow := func() {
			select {
			case grown <- logMsg{log: l}:
			default: // as read does
			}
			synctest.Wait()
		}
		for range 10 * 60 { // ten seconds of 60 lines each
			grow()
			time.Sleep(time.Second / 60)
		}
		synctest.Wait()
		require.LessOrEqual(t, sent, 10*4+4)
		require.GreaterOrEqual(t, sent, 10*4)

		time.Sleep(time.Second)
		synctest.Wait()
		sent = 0
		grow()
		require.Equal(t, 1, sent, "a single line is drawn at once")
		grow()
		time.Sleep(batch)
		synctest.Wait()
		require.Equal(t, 2, sent, "the next one soon")
		close(grown)
		<-done
	})
}
