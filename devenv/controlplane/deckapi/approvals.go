// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// collectedKey is the stage metadata in which the plugin of WAIT_APPROVAL keeps the approvals so far, a JSON list.
	collectedKey = "approvals"
	// neededKey is the stage metadata in which it keeps how many there have to be.
	neededKey = "approvals-needed"
	// userKey, with an approver's name behind it, is the stage metadata with the user who approved under that name.
	userKey = "pipedeck/approved-as/"
)

// approver is the name to approve with. PipeCD v1: only authorized operators may approve, where a stage
// names any. A user who gives no name acts as the next of them, because an environment has only one user.
func (s *Server) approver(d *model.Deployment, stage *model.PipelineStage, name string) (string, error) {
	allowed := stage.GetAuthorizedOperators()
	switch {
	case len(allowed) == 0:
		return cmp.Or(name, defaultCommander), nil
	case name == "":
		waiting := s.store.Commands.Approvals(d.GetId(), stage.GetId())
		for _, a := range awaited(stage) {
			if !slices.Contains(waiting, a) {
				return a, nil
			}
		}
		return allowed[0], nil
	case !slices.Contains(allowed, name):
		return "", status.Errorf(codes.FailedPrecondition, "%s may not approve stage %s; approve as one of: %s",
			name, stageWord(stage), strings.Join(allowed, ", "))
	}
	return name, nil
}

// awaited returns the named approvers who have not approved the stage yet; nil where anyone may approve.
func awaited(stage *model.PipelineStage) (names []string) {
	approved := collected(stage)
	for _, name := range stage.GetAuthorizedOperators() {
		if !slices.Contains(approved, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// collected returns the users who have approved the stage so far. Another plugin may use the key for something else:
// then no one has.
func collected(stage *model.PipelineStage) (users []string) {
	if json.Unmarshal([]byte(stage.GetMetadata()[collectedKey]), &users) != nil {
		return nil
	}
	return users
}

// needed returns how many users have to approve the stage; 0 where its plugin does not report it.
func needed(stage *model.PipelineStage) int32 {
	n, err := strconv.ParseInt(stage.GetMetadata()[neededKey], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// recordUser keeps with the stage which user approves under another name: the plugin compares the commander
// with the approvers, so the commander cannot carry both.
func (s *Server) recordUser(d *model.Deployment, stage *model.PipelineStage, commander, user string) error {
	if user == "" || user == commander {
		return nil
	}
	return s.store.Deployments.MergeStageMetadata(d.GetPipedId(), d.GetId(), stage.GetId(),
		map[string]string{userKey + commander: user})
}

// display is what users see under a stage: the plugin's words, then who approved under which name.
func display(stage *model.PipelineStage) string {
	var parts []string
	if words := stage.GetMetadata()[displayKey]; words != "" {
		parts = append(parts, words)
	}
	for _, key := range slices.Sorted(maps.Keys(stage.GetMetadata())) {
		if name, found := strings.CutPrefix(key, userKey); found {
			parts = append(parts, stage.GetMetadata()[key]+" approved as "+name)
		}
	}
	return strings.Join(parts, "; ")
}
