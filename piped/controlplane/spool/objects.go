// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"

	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
)

// object is what someone stores at the control plane and reads back; zero for all else.
type object struct {
	// kind is "object" for those of plugins, "analysis" for the result of an analysis.
	kind, application, plugin, key string
}

func objectOf(request proto.Message) object {
	switch r := request.(type) {
	case *ps.PutApplicationSharedObjectRequest:
		return object{"object", r.GetApplicationId(), r.GetPluginName(), r.GetKey()}
	case *ps.GetApplicationSharedObjectRequest:
		return object{"object", r.GetApplicationId(), r.GetPluginName(), r.GetKey()}
	case *ps.PutLatestAnalysisResultRequest:
		return object{kind: "analysis", application: r.GetApplicationId()}
	case *ps.GetLatestAnalysisResultRequest:
		return object{kind: "analysis", application: r.GetApplicationId()}
	default:
		return object{}
	}
}

// get answers from what is kept, the newest that was stored under the name, and asks the control plane for
// what is not kept here.
func (s *Spool) get(ctx context.Context, c call) error {
	stored := s.stored(objectOf(c.request))
	if stored == nil {
		return c.next(ctx)
	}
	proto.Merge(c.reply.(proto.Message), stored)
	return nil
}

// stored is the answer that a kept report makes; nil when there is none.
func (s *Spool) stored(o object) proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.queue) - 1; i >= 0; i-- {
		if s.queue[i].object != o {
			continue
		}
		_, request, _, err := s.read(s.queue[i].number)
		if err != nil {
			s.options.Logger.Error("a kept object cannot be read; the control plane is asked for it", "file",
				s.path(s.queue[i].number), "error", err)
			return nil
		}
		switch r := request.(type) {
		case *ps.PutApplicationSharedObjectRequest:
			return &ps.GetApplicationSharedObjectResponse{Object: r.GetObject()}
		case *ps.PutLatestAnalysisResultRequest:
			return &ps.GetLatestAnalysisResultResponse{AnalysisResult: r.GetAnalysisResult()}
		}
	}
	return nil
}
