// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/change"
)

const (
	// plannedKey holds the changes as data, for user interfaces.
	plannedKey sdk.StageKey[plannedChanges] = sdk.PlannedChangesMetadataKey
	subjectKey sdk.StageKey[sdk.Text]       = sdk.ApprovalSubjectMetadataKey
	// maxPlanned bounds them, in bytes of JSON: user interfaces read them whenever a stage is inspected.
	maxPlanned = 64 << 10
	// maxSubject bounds the resources that the subject of an approval names.
	maxSubject = 3
)

// plannedChanges are the changes at each deploy target.
type plannedChanges struct {
	Targets []change.Document `json:"targets"`
}

// planned are the changes as data, within a bound for all deploy targets together.
func (s summaries) planned(size int) plannedChanges {
	all := plannedChanges{Targets: []change.Document{}}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		all.Targets = append(all.Targets, s[name].Document(name, size/len(s)))
	}
	return all
}

// putPlanned stores the changes with the stage. An earlier attempt may have stored what is not there any more.
func putPlanned(ctx context.Context, req *executeRequest, changes summaries) error {
	if len(changes) == 0 {
		return nil
	}
	return plannedKey.Put(ctx, req.Client, changes.planned(maxPlanned))
}

// subject says in one line what an approval is about.
func subject(list []string) sdk.Text {
	named := strings.Join(list[:min(len(list), maxSubject)], ", ")
	if len(list) > maxSubject { // the number first: the line may be cut
		return sdk.Text(fmt.Sprintf("destroys %d resources: %s, …", len(list), named))
	}
	return sdk.Text("destroys " + named)
}
