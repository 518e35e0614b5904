// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestNewsIsTakenOnceAndWakesOnce(t *testing.T) {
	t.Parallel()
	i := newInbox()
	var many sync.WaitGroup
	for range 10 {
		many.Go(i.applicationsChanged)
		many.Go(i.nudge)
	}
	many.Wait()
	i.commandsListed([]*model.Command{{Id: "old"}})
	i.commandsListed([]*model.Command{{Id: "new"}})
	<-i.wake
	select {
	case <-i.wake:
		require.Fail(t, "the news of before one pass calls for one pass")
	default:
	}
	got := i.take()
	require.True(t, got.applications)
	require.True(t, got.newCommands)
	require.Equal(t, "new", got.commands[0].GetId())
	require.Len(t, got.commands, 1)
	require.Equal(t, news{}, i.take())

	i.commandsListed(nil)
	require.Equal(t, news{newCommands: true}, i.take(), "no command is left, which is news too")
}
