// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// fakeCluster keeps objects by resource and sends watchers the changes.
type fakeCluster struct {
	output string
	// printed is what every container prints.
	printed string

	mu        sync.Mutex
	resources map[string]*fakeResource
}

func newFakeCluster() *fakeCluster { return &fakeCluster{resources: map[string]*fakeResource{}} }

func (c *fakeCluster) Resource(gvr schema.GroupVersionResource, _ string) cluster.Watchable {
	return c.resource(gvr.Resource)
}

func (c *fakeCluster) resource(name string) *fakeResource {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resources[name] == nil {
		c.resources[name] = &fakeResource{objects: map[types.UID]*unstructured.Unstructured{},
			watchers: map[*watch.RaceFreeFakeWatcher]bool{}}
	}
	return c.resources[name]
}

func (c *fakeCluster) Get(_ context.Context, _ string, query url.Values) (int, string, error) {
	if query.Get("previous") == "true" && c.output != "" {
		return http.StatusOK, c.output, nil
	}
	return http.StatusNotFound, "", nil
}

func (c *fakeCluster) Stream(context.Context, string, url.Values) (int, io.ReadCloser, error) {
	return http.StatusOK, io.NopCloser(strings.NewReader(c.printed)), nil
}

type fakeResource struct {
	mu       sync.Mutex
	objects  map[types.UID]*unstructured.Unstructured
	watchers map[*watch.RaceFreeFakeWatcher]bool
	watches  int
}

// set stores an object and notifies the watchers.
func (r *fakeResource) set(o *unstructured.Unstructured) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.objects[o.GetUID()] = o
	for w := range r.watchers {
		w.Modify(o.DeepCopy())
	}
}

// keep stores an object without a word to the watchers, as if they were late.
func (r *fakeResource) keep(o *unstructured.Unstructured) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.objects[o.GetUID()] = o
}

func (r *fakeResource) remove(o *unstructured.Unstructured) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.objects, o.GetUID())
	for w := range r.watchers {
		w.Delete(o.DeepCopy())
	}
}

// breakWatches ends every connection, as an API does now and then.
func (r *fakeResource) breakWatches() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.watchers {
		w.Stop()
		delete(r.watchers, w)
	}
}

func (r *fakeResource) watched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watches
}

func (r *fakeResource) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := &unstructured.UnstructuredList{}
	for _, o := range r.objects {
		list.Items = append(list.Items, *o.DeepCopy())
	}
	return list, nil
}

func (r *fakeResource) Watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := watch.NewRaceFreeFake()
	r.watchers[w] = true
	r.watches++
	context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.watchers[w] {
			delete(r.watchers, w)
			w.Stop()
		}
	})
	return w, nil
}

// lines is a log that tests read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Infof(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.text, format+"\n", args...)
}

func (l *lines) Successf(format string, args ...any) { l.Infof(format, args...) }

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// pass lets time pass on the clock of the test's bubble, which runs as fast as the test does.
func pass(d time.Duration) { <-time.After(d) }
