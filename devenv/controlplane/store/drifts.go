// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"strings"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// maxDriftBytes bounds the fields of one application.
const maxDriftBytes = 512 << 10

// hidden stands for a secret value.
const hidden = `"******"`

// ReportDrift stores the fields that belong to the next live state of the application. Values of Secrets that a plugin
// has not hidden are hidden here.
func (l *LiveStates) ReportDrift(pipedID string, r *agentv1.ReportDriftRequest) error {
	if size := proto.Size(r); size > maxDriftBytes {
		return invalid("the fields of the drift take %d bytes; at most %d are kept", size, maxDriftBytes)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.applications.owned(pipedID, r.GetApplicationId()); err != nil {
		return err
	}
	next := make(map[string]*livestate.ResourceDrift, len(r.GetResources()))
	for _, one := range r.GetResources() {
		next[one.GetResourceId()] = proto.CloneOf(one)
	}
	l.of(r.GetApplicationId()).next = next
	return nil
}

// hideSecrets hides the values of the Secrets of a live state.
func (l *liveState) hideSecrets() {
	for _, r := range l.snapshot.GetApplicationLiveState().GetResources() {
		if r.GetResourceType() != "Secret" || l.drifts[r.GetId()] == nil {
			continue
		}
		for _, f := range l.drifts[r.GetId()].GetFields() {
			if strings.HasPrefix(f.GetPath(), "data") || strings.HasPrefix(f.GetPath(), "stringData") {
				f.Secret = true
				f.GitValue, f.LiveValue = hide(f.GetGitValue()), hide(f.GetLiveValue())
				f.AppliedValue = hide(f.GetAppliedValue())
			}
		}
	}
}

func hide(value string) string {
	if value == "" {
		return ""
	}
	return hidden
}
