// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

const (
	// lookupTimeout bounds one request to the API.
	lookupTimeout = 10 * time.Second
	// maxNotes bounds the lines about what could not be looked up.
	maxNotes = 20
)

// View is what the charts of one loading see of a cluster. It is used by one goroutine at a time.
type View struct {
	connect func(context.Context) (*cluster.Client, error)
	// hidden is nil where Secrets are shown.
	hidden *hidden

	client *cluster.Client
	able   *helm.Capabilities
	reads  Reads
	notes  []string
	away   error
}

var _ helm.Cluster = (*View)(nil)

// New creates a View, which connects once it is asked.
func New(connect func(context.Context) (*cluster.Client, error)) *View {
	return &View{connect: connect}
}

// Hide replaces the values of Secrets by marks that are made with a key, and returns v; see [View.Restore].
func (v *View) Hide(key []byte) *View {
	v.hidden = newHidden(key)
	return v
}

// Away is why the cluster could not be asked for what it can do; nil when it could, or was not asked.
func (v *View) Away() error { return v.away }

// Notes are what a user should know about the answers, a line each.
func (v *View) Notes() []string {
	notes := v.notes
	if more := len(notes) - maxNotes; more > 0 {
		notes = append(slices.Clone(notes[:maxNotes]), fmt.Sprintf("and %d more that were not looked up", more))
	}
	return notes
}

// Reads are what was looked up; nil for nothing.
func (v *View) Reads() *Reads {
	if len(v.reads.asked) == 0 {
		return nil
	}
	v.reads.client = v.client
	return &v.reads
}

// Client is connected to the cluster that has been asked what it can do.
func (v *View) Client(ctx context.Context) (*cluster.Client, error) {
	_, err := v.Capabilities(ctx)
	return v.client, err
}

// Capabilities asks once.
func (v *View) Capabilities(ctx context.Context) (*helm.Capabilities, error) {
	if v.able != nil || v.away != nil {
		return v.able, v.away
	}
	client, err := v.connect(ctx)
	if err == nil {
		v.client = client
		v.able, err = capabilities(client)
	}
	v.away = err
	return v.able, err
}

// Lookup answers what templates look up.
func (v *View) Lookup(ctx context.Context, q helm.Question) ([]byte, error) {
	if _, err := v.Capabilities(ctx); err != nil {
		return nil, err
	}
	gvk := schema.FromAPIVersionAndKind(q.APIVersion, q.Kind)
	mapping, err := v.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		v.reads.add(asked{})
		v.note("Not looked up: %s, because the cluster does not know %s %s", q, q.APIVersion, q.Kind)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask the cluster which resource %s is: %w", q.Kind, err)
	}
	one := asked{resource: mapping.Resource, namespace: q.Namespace, name: q.Name}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		one.namespace = ""
	}
	status, data, err := read(ctx, v.client, one)
	if err != nil {
		return nil, err
	}
	switch status {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusForbidden:
		if status == http.StatusForbidden {
			v.note("Not looked up: %s, because the credentials of the deploy target may not read it", q)
		}
		v.reads.add(one)
		return nil, nil
	default:
		return nil, fmt.Errorf("the API answers %d: %s", status, reason(data))
	}
	if one.version, err = versionOf(data); err != nil {
		return nil, err
	}
	v.reads.add(one)
	return v.shown(gvk, data)
}

// shown is an answer as templates get it.
func (v *View) shown(gvk schema.GroupVersionKind, data []byte) ([]byte, error) {
	secret := gvk.Group == "" && gvk.Kind == "Secret"
	if v.hidden == nil || !secret {
		return withKinds(gvk, data)
	}
	v.note("Hidden: the values of Secrets that the chart looks up")
	return v.hidden.hide(data)
}

func (v *View) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !slices.Contains(v.notes, line) {
		v.notes = append(v.notes, line)
	}
}
