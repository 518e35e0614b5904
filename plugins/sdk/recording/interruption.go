// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// Interrupted reports whether the call executed a stage and has no answer because the plugin's process ended before.
func (c *Call) Interrupted() bool {
	return c.ToPlugin() && strings.HasSuffix(c.Method, "/ExecuteStage") && c.Code == codes.Unavailable.String()
}

// Interruptions has a line for each attempt at a stage that was interrupted; none when all have an answer.
func (rec *Recording) Interruptions() (lines []string) {
	for i := range rec.Calls {
		call := &rec.Calls[i]
		if !call.Interrupted() {
			continue
		}
		_, stage := executed(call)
		played := "a replay compares what was reported before that"
		if nextAttempt(rec.Calls, i) > 0 {
			played = "a replay plays its next attempt instead"
		}
		lines = append(lines, fmt.Sprintf("call %d, attempt %d at stage %s, ends in an interruption: %s; %s", call.Seq,
			stage.GetRetriedCount()+1, stage.GetName(), callEnd(call.Code, call.Message), played))
	}
	return lines
}

// executed are the ids of the deployment and the stage that a call is about, and the stage.
func executed(call *Call) (key [2]string, stage *model.PipelineStage) {
	request, ok := requestOf(call).(*deployment.ExecuteStageRequest)
	if !ok {
		return key, nil
	}
	stage = request.GetInput().GetStage()
	return [2]string{request.GetInput().GetDeployment().GetId(), stage.GetId()}, stage
}

// nextAttempt is the index of the next attempt at the stage of a call; 0 when there is none.
func nextAttempt(calls []Call, at int) int {
	key, _ := executed(&calls[at])
	for i := at + 1; i < len(calls); i++ {
		if other, stage := executed(&calls[i]); calls[i].ToPlugin() && stage != nil && other == key {
			return i
		}
	}
	return 0
}

// withoutInterrupted returns the recording without the attempts that were interrupted and followed by another one: with
// what they reported, no replay could be the same. An attempt that was interrupted last stays.
func withoutInterrupted(rec *Recording) *Recording {
	kept := *rec
	kept.Calls = slices.Clone(rec.Calls)
	for i := 0; i < len(kept.Calls); i++ {
		if !kept.Calls[i].Interrupted() {
			continue
		}
		end := nextAttempt(kept.Calls, i)
		if end == 0 {
			continue
		}
		key, _ := executed(&kept.Calls[i])
		rest := slices.DeleteFunc(slices.Clone(kept.Calls[i+1:end]), func(c Call) bool {
			about, ok := requestOf(&c).(interface {
				GetDeploymentId() string
				GetStageId() string
			})
			return !c.ToPlugin() && ok && [2]string{about.GetDeploymentId(), about.GetStageId()} == key
		})
		kept.Calls = slices.Concat(kept.Calls[:i], rest, kept.Calls[end:])
		i--
	}
	return &kept
}

// beginning returns as many first lines of a text as another one has: a replay of an interrupted stage goes on to where
// it is stopped.
func beginning(text, other string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if len(lines) == strings.Count(other, "\n") {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}
