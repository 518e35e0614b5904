// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/devenv/services"
)

var workloadResources = []schema.GroupVersionResource{
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
}

// findWorkload takes the pods of an application without a service.
func (c *cluster) findWorkload(ctx context.Context, r Request) (found, error) {
	var all []*workload
	for _, resource := range workloadResources {
		workloads, err := list[workload](ctx, c, resource, r)
		if err != nil {
			return found{}, err
		}
		all = append(all, workloads...)
	}
	primary := slices.DeleteFunc(slices.Clone(all), func(w *workload) bool { return w.IsVariant() })
	if len(primary) > 0 {
		all = primary
	}
	if len(all) == 0 {
		return found{},
			fmt.Errorf("nothing of %s that could be reached is in cluster %s yet; deploy it with: pipedeck sync %s",
				r.Name, r.Cluster, r.Name)
	}
	slices.SortStableFunc(all, func(a, b *workload) int { return a.Before(&b.Meta, r.Name) })
	return findContainerPort(all[0], r)
}

// findContainerPort also takes a number that no container declares: declaring them is optional.
func findContainerPort(w *workload, r Request) (found, error) {
	selector, err := metav1.LabelSelectorAsSelector(w.Spec.Selector)
	if err != nil {
		return found{}, fmt.Errorf("read the selector of %s %s: %w; correct it and deploy again", w.Kind, w.Name, err)
	}
	f := found{source: w.Kind + " " + w.Namespace + "/" + w.Name}
	var known []string
	for _, p := range containerPorts(w.Spec.Template.Spec) {
		name := p.Name
		if name == "" {
			name = strconv.Itoa(int(p.ContainerPort))
		}
		if r.Port == "" || r.Port == p.Name || r.Port == strconv.Itoa(int(p.ContainerPort)) {
			f.port, f.scheme = name, services.SchemeOf("", p.Name, p.ContainerPort)
			f.watcher = watchPods(w.Namespace, selector.String(), portOf(p))
			return f, nil
		}
		known = append(known, name)
	}
	if number, err := strconv.ParseUint(r.Port, 10, 16); err == nil && number > 0 {
		f.port, f.scheme = r.Port, services.SchemeOf("", "", int32(number))
		f.watcher = watchPods(w.Namespace, selector.String(), func(*podObject) int32 { return int32(number) })
		return f, nil
	}
	if len(known) == 0 {
		return found{}, fmt.Errorf("%s has neither a service nor a container port; name one with --port NUMBER", r.Name)
	}
	return found{}, fmt.Errorf("no container of %s has the port %q; choose one with --port: %s", r.Name, r.Port,
		strings.Join(known, ", "))
}

func containerPorts(spec podSpec) []containerPort {
	var all []containerPort
	for _, c := range spec.Containers {
		for _, p := range c.Ports {
			if p.Protocol == "" || p.Protocol == protocolTCP {
				all = append(all, p)
			}
		}
	}
	return all
}

// portOf finds a port in a pod, which may be of another version than the workload.
func portOf(wanted containerPort) func(*podObject) int32 {
	return func(p *podObject) int32 {
		for _, port := range containerPorts(p.Spec) {
			if wanted.Name != "" && port.Name == wanted.Name {
				return port.ContainerPort
			}
		}
		return wanted.ContainerPort
	}
}
