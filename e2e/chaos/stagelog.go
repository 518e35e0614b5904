// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// logHas reports whether the log of an ended stage holds a text.
func logHas(ctx context.Context, deck deckv1.DeckServiceClient, deployment, stage, text string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stream, err := deck.WatchStageLog(ctx, &deckv1.WatchStageLogRequest{DeploymentId: deployment, StageId: stage})
	if err != nil {
		return false, err
	}
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read the log of stage %s of deployment %s: %w", stage, deployment, err)
		}
		for _, block := range response.GetBlocks() {
			if strings.Contains(block.GetText(), text) {
				return true, nil
			}
		}
		if response.GetLast() || response.GetCompleted() {
			return false, nil
		}
	}
}
