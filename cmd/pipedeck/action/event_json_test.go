// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestEventsAreDocuments(t *testing.T) {
	t.Parallel()
	event := &deckv1.RegisteredEvent{Id: "e1", Name: "image", Data: "v2", Labels: map[string]string{"env": "dev"},
		Status: deckv1.EventStatus_EVENT_STATUS_NOT_HANDLED, CreatedAt: decktest.At(1)}
	var out bytes.Buffer
	require.NoError(t, printEvent(&out, event, clitest.JSON(t)))
	var registered document.EventRegistration
	clitest.Document(t, "event-registration", out.String(), &registered)
	require.Equal(t, "NOT_HANDLED", registered.Status)
	out.Reset()
	require.NoError(t, printEvents(&out, []*deckv1.RegisteredEvent{event}, clitest.JSON(t)))
	var listed document.RegisteredEvents
	clitest.Document(t, "registered-events", out.String(), &listed)
	require.Equal(t, "dev", listed.Events[0].Labels["env"])
}
