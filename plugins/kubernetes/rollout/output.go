// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// maxOutputLines bounds what one hook writes to the log of a stage, maxLineBytes one line of it.
	maxOutputLines = 2000
	maxLineBytes   = 4 << 10
	// maxReaders bounds the containers of one hook that are read while they run.
	maxReaders = 20
	// outputGrace is how long the end of the output is waited for once the hook has ended.
	outputGrace = 5 * time.Second
)

// output writes what the containers of a hook print to the log, while they run. A nil output writes nothing.
type output struct {
	ctx     context.Context
	stop    context.CancelFunc
	cluster Cluster
	log     Log
	readers sync.WaitGroup

	mu    sync.Mutex
	lines int
	// read is how many lines each run of a container has had; one that is not in it has no reader yet.
	read map[string]int
}

func newOutput(ctx context.Context, c Cluster, log Log) *output {
	ctx, stop := context.WithCancel(ctx)
	return &output{ctx: ctx, stop: stop, cluster: c, log: log, read: map[string]int{}}
}

// printer is one run of a container.
type printer struct {
	namespace, pod, container string
	restarts                  int32
	// alone: the pod has no other container.
	alone bool
}

func (p printer) id() string { return fmt.Sprintf("%s/%s/%d", p.pod, p.container, p.restarts) }

// name is how lines are marked.
func (p printer) name() string {
	if p.alone {
		return p.pod
	}
	return p.pod + "/" + p.container
}

// see starts to read the containers that have begun, up to a bound. The end of the hook reads the others.
func (o *output) see(pods []*unstructured.Unstructured) {
	if o == nil {
		return
	}
	for _, p := range printers(pods) {
		o.mu.Lock()
		_, known := o.read[p.id()]
		begin := !known && len(o.read) < maxReaders
		if begin {
			o.read[p.id()] = 0
		}
		o.mu.Unlock()
		if begin {
			o.readers.Go(func() { _ = o.follow(p, true) }) // the end of the hook asks again
		}
	}
}

// printers are the containers that have begun to run.
func printers(pods []*unstructured.Unstructured) []printer {
	var found []printer
	for _, u := range pods {
		var pod corev1.Pod
		if fromUnstructured(u.Object, &pod) != nil {
			continue
		}
		all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
		for _, s := range all {
			if s.State.Running != nil || s.State.Terminated != nil {
				found = append(found, printer{namespace: pod.Namespace, pod: pod.Name, container: s.Name,
					restarts: s.RestartCount, alone: len(all) == 1})
			}
		}
	}
	return found
}

// follow writes the lines of a container that were not written yet. With wait it stays until the container ends.
func (o *output) follow(p printer, wait bool) error {
	o.mu.Lock()
	written, full := o.read[p.id()], o.lines > maxOutputLines
	o.mu.Unlock()
	if full {
		return nil
	}
	query := url.Values{"container": {p.container}}
	if wait {
		query.Set("follow", "true")
	}
	code, body, err := o.cluster.Stream(o.ctx, "/api/v1/namespaces/"+p.namespace+"/pods/"+p.pod+"/log", query)
	if err != nil {
		return err
	}
	defer body.Close()
	reader := bufio.NewReaderSize(body, maxLineBytes)
	if code != http.StatusOK {
		line, _ := readLine(reader)
		return fmt.Errorf("status %d: %s", code, line)
	}
	for n := 0; ; n++ {
		line, err := readLine(reader)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n >= written && !o.write(p, line):
			return nil
		}
	}
}

// readLine returns the next line without its end; of a long one only the beginning.
func readLine(r *bufio.Reader) (string, error) {
	line, more, err := r.ReadLine()
	text := strings.ToValidUTF8(string(line), "�")
	for more && err == nil {
		if _, more, err = r.ReadLine(); !more {
			text += "…"
		}
	}
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}
	return text, err
}

// write reports whether there is room for more.
func (o *output) write(p printer, line string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read[p.id()]++
	switch o.lines++; {
	case o.lines == maxOutputLines+1:
		o.log.Infof("%s | more than %d lines; for the rest: kubectl -n %s logs %s -c %s", p.name(), maxOutputLines,
			p.namespace, p.pod, p.container)
		return false
	case o.lines > maxOutputLines:
		return false
	}
	o.log.Infof("%s | %s", p.name(), line)
	return true
}

// end writes what is left once the hook has ended, and ends the readers. What a broken connection has cost is read
// again.
func (o *output) end(pods []*unstructured.Unstructured) {
	late := time.AfterFunc(outputGrace, o.stop)
	o.readers.Wait()
	for _, p := range printers(pods) {
		err := o.follow(p, false)
		if o.mu.Lock(); err != nil && o.read[p.id()] == 0 && o.ctx.Err() == nil {
			o.log.Infof("%s: its output cannot be read: %v", p.name(), err)
		}
		o.mu.Unlock()
	}
	late.Stop()
	o.stop()
}

// endOutput writes the rest of what a hook has printed, however the hook has ended.
func (t *tracker) endOutput(ctx context.Context) {
	if t.output == nil {
		return
	}
	t.output.end(t.listPods(ctx))
}
