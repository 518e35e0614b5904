// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

type objectKey struct{ application, plugin, key string }

// SharedObject returns what a plugin stored for an application; NotFound when nothing.
func (s *Store) SharedObject(pipedID, application, plugin, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ownedApplication(pipedID, application); err != nil {
		return nil, err
	}
	object, ok := s.objects[objectKey{application, plugin, key}]
	if !ok {
		return nil, notFound("application %s has no object %q of plugin %s", application, key, plugin)
	}
	return slices.Clone(object), nil
}

// PutSharedObject stores bytes for a plugin beside an application.
func (s *Store) PutSharedObject(pipedID, application, plugin, key string, object []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ownedApplication(pipedID, application); err != nil {
		return err
	}
	if len(object) > s.limits.SharedObjectBytes {
		return invalid("the shared object %q of plugin %s has %d bytes; at most %d are kept", key, plugin, len(object), s.limits.SharedObjectBytes)
	}
	k := objectKey{application, plugin, key}
	grown := len(object) - len(s.objects[k])
	if s.objectBytes+grown > s.limits.ObjectBytes {
		return exhausted("shared objects would take more than %d bytes; plugin %s should store less", s.limits.ObjectBytes, plugin)
	}
	s.objects[k] = slices.Clone(object)
	s.keepObject(k, object)
	s.objectBytes += grown
	return nil
}

// AnalysisResult returns the last analysis of an application (PipeCD v0); NotFound when none.
func (s *Store) AnalysisResult(pipedID, application string) (*model.AnalysisResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ownedApplication(pipedID, application); err != nil {
		return nil, err
	}
	result, ok := s.analyses[application]
	if !ok {
		return nil, notFound("application %s has no analysis result", application)
	}
	return proto.CloneOf(result), nil
}

// PutAnalysisResult stores the last analysis of an application (PipeCD v0).
func (s *Store) PutAnalysisResult(pipedID, application string, result *model.AnalysisResult) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ownedApplication(pipedID, application); err != nil {
		return err
	}
	s.analyses[application] = proto.CloneOf(result)
	s.keepAnalysis(application, result)
	return nil
}

func (s *Store) removeObjects(application string) {
	for k, object := range s.objects {
		if k.application == application {
			s.objectBytes -= len(object)
			delete(s.objects, k)
		}
	}
}
