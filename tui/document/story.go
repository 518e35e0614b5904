// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Caption is what a story says at one of its steps.
type Caption struct {
	// Text is the caption.
	Text string `json:"text"`
	// Step is the number of the step, from 1.
	Step int32 `json:"step"`
	// Steps is the number of all steps.
	Steps int32 `json:"steps"`
	// Awaits is what the story waits for before it goes on; empty when it waits for nothing.
	Awaits string `json:"awaits"`
}

// NewCaption returns the caption of a story.
func NewCaption(c *deckv1.Caption) Caption {
	return Caption{Text: c.GetText(), Step: c.GetStep(), Steps: c.GetSteps(), Awaits: c.GetAwaits()}
}
