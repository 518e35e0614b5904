// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mapper remembers which resources the kinds of Kubernetes' oldest groups are, as apps and batch: each manifest asks
// for its own, and the search through all groups takes longer than what it is for. These kinds do not come and go; what
// is in a group with a domain may. There are as many entries as the API has such kinds.
type mapper struct {
	meta.ResettableRESTMapper

	mu    sync.Mutex
	known map[mapped]*meta.RESTMapping
}

// mapped is a question with one version or none.
type mapped struct {
	kind    schema.GroupKind
	version string
}

// RESTMapping implements meta.RESTMapper. What it returns is shared and must not be changed.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if strings.Contains(kind.Group, ".") || len(versions) > 1 {
		return m.ResettableRESTMapper.RESTMapping(kind, versions...)
	}
	asked := mapped{kind: kind, version: strings.Join(versions, "")}
	m.mu.Lock()
	found := m.known[asked]
	m.mu.Unlock()
	if found != nil {
		return found, nil
	}
	found, err := m.ResettableRESTMapper.RESTMapping(kind, versions...)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[mapped]*meta.RESTMapping{}
	}
	m.known[asked] = found
	return found, nil
}

// Reset implements meta.ResettableRESTMapper.
func (m *mapper) Reset() {
	m.mu.Lock()
	m.known = nil
	m.mu.Unlock()
	m.ResettableRESTMapper.Reset()
}
