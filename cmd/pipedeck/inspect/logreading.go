// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/text"
)

// logReading prints the log of a stage in one or several reads, each line once.
type logReading struct {
	deck       deckv1.DeckServiceClient
	deployment string
	stage      string
	// stageName is the type of the stage; machine prints event lines.
	stageName string
	machine   bool
	out       *bufio.Writer

	// last is the block that was printed last; nil before the first.
	last *deckv1.LogBlock
}

// read prints the log until it is complete, or where it does not follow, until the last line that there is. It returns
// reader.ErrEnded when the environment ends before.
func (r *logReading) read(ctx context.Context, follow bool) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := r.deck.WatchStageLog(watching,
		&deckv1.WatchStageLogRequest{DeploymentId: r.deployment, StageId: r.stage})
	if err != nil {
		return session.Refusal(err)
	}
	// held are the blocks that an earlier read has printed, up to its last one, as long as that is not seen.
	var held []*deckv1.LogBlock
	last, begun := r.last, r.last != nil
	for {
		response, err := stream.Recv()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF), status.Code(err) == codes.Unavailable:
			return reader.ErrEnded // a complete log says so before its stream ends
		case err != nil:
			return session.Refusal(err)
		}
		if response.Truncated && !begun && !r.machine {
			fmt.Fprintln(r.out, "(the beginning of this log is not kept)")
		}
		begun = true
		held = append(held, response.Blocks...)
		if at := find(held, last); last != nil && at >= 0 {
			held, last = held[at+1:], nil
		}
		if last == nil || response.Completed || response.Last { // what is not found is not kept any more
			last = nil
			if err := r.print(held); err != nil {
				return err
			}
			held = nil
		}
		if response.Completed || response.Last && !follow {
			return nil
		}
	}
}

func find(blocks []*deckv1.LogBlock, block *deckv1.LogBlock) int {
	for i := range blocks {
		if proto.Equal(blocks[i], block) {
			return i
		}
	}
	return -1
}

func (r *logReading) print(blocks []*deckv1.LogBlock) error {
	for _, block := range blocks {
		r.last = block
		if r.machine {
			line := document.NewLogLine(block.Time.AsTime(), block, r.stageName)
			line.Deployment, line.Stage = r.deployment, r.stage // the blocks of one stage do not repeat them
			if err := format.Line(r.out, line); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(r.out, "%s %s\n", block.Time.AsTime().Local().Format("15:04:05"),
			strings.TrimRight(text.Clean(block.Text), "\n"))
	}
	return r.out.Flush()
}
