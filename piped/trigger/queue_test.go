// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func waiting(c *commands) (ids []string) {
	for command := range c.open() {
		ids = append(ids, command.GetId())
	}
	return ids
}

func TestCommandsWaitUntilTheyAreAnswered(t *testing.T) {
	t.Parallel()
	a, b := &model.Command{Id: "a"}, &model.Command{Id: "b"}
	c := newCommands()
	require.Empty(t, waiting(c))
	c.replace([]*model.Command{a, b})
	require.Equal(t, []string{"a", "b"}, waiting(c))
	c.answered(a)
	require.Equal(t, []string{"b"}, waiting(c))
	c.replace([]*model.Command{a, b})
	require.Equal(t, []string{"b"}, waiting(c), "a list from before the answer")
	c.replace(nil)
	c.replace([]*model.Command{a})
	require.Equal(t, []string{"a"}, waiting(c), "the memory holds the listed commands only")
}

func TestACommandAsksForOneLook(t *testing.T) {
	t.Parallel()
	looks := 0
	ask := func() int { looks++; return looks }
	a, b := &model.Command{Id: "a"}, &model.Command{Id: "b"}
	c := newCommands()
	c.replace([]*model.Command{a, b})
	require.Equal(t, 1, c.look(a, ask))
	require.Equal(t, 2, c.look(b, ask))
	c.replace([]*model.Command{b, a})
	require.Equal(t, 1, c.look(a, ask))
	c.answered(a)
	c.replace([]*model.Command{a, b})
	require.Equal(t, map[string]int{"b": 2}, c.looks, "an answered command waits for no look")
}
