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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Labels of what piped's kubernetes plugins deploy (PipeCD v1). The variant's key can be configured;
// names show where it is: those of variants are the service's with a suffix.
const (
	labelApplication = "pipecd.dev/application"
	labelVariant     = "pipecd.dev/variant"
)

var serviceResource = schema.GroupVersionResource{Version: "v1", Resource: "services"}

// found is a port of an application.
type found struct {
	// source is what it belongs to ("Service default/web"), port its name or number.
	source, port string
	scheme       scheme
	// published is where the cluster itself answers on this machine, as host:port; empty when it does not.
	published string
	// simulated is whether nothing behind the port runs.
	simulated bool
	// others are further things that could have been meant.
	others  []string
	watcher watcher
}

// find looks for what a request means.
func (c *cluster) find(ctx context.Context, r Request) (found, error) {
	services, err := list[service](ctx, c, serviceResource, r)
	if err != nil {
		return found{}, err
	}
	if services = preferred(services, r.Name); len(services) > 0 {
		return findPort(services, r)
	}
	return c.findWorkload(ctx, r)
}

// list returns the objects of an application.
func list[T any](ctx context.Context, c *cluster, resource schema.GroupVersionResource, r Request) ([]*T, error) {
	list, err := c.objects.Resource(resource).List(ctx,
		metav1.ListOptions{LabelSelector: labelApplication + "=" + r.ApplicationID})
	if err != nil {
		return nil, fmt.Errorf("list the %s of %s in cluster %s: %w; see pipedeck status", resource.Resource, r.Name,
			r.Cluster, err)
	}
	var typed []*T
	for _, o := range list.Items {
		t := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, t); err != nil {
			return nil, fmt.Errorf("read %s %s: %w; this is a bug, please report it", resource.Resource, o.GetName(),
				err)
		}
		typed = append(typed, t)
	}
	return typed, nil
}

// preferred orders services that lead to pods: the one named like the application, then by name;
// those of canaries and baselines only when there is nothing else.
func preferred(services []*service, application string) []*service {
	services = slices.DeleteFunc(services, func(s *service) bool { return len(ports(s)) == 0 })
	primary := slices.DeleteFunc(slices.Clone(services), func(s *service) bool { return isVariant(s.Labels) })
	if len(primary) > 0 {
		services = primary
	}
	slices.SortFunc(services,
		func(a, b *service) int { return compareNames(&a.ObjectMeta, &b.ObjectMeta, application) })
	return services
}

func compareNames(a, b *metav1.ObjectMeta, first string) int {
	if own := (b.Name == first); own != (a.Name == first) {
		if own {
			return 1
		}
		return -1
	}
	return strings.Compare(a.Name+"/"+a.Namespace, b.Name+"/"+b.Namespace)
}

func isVariant(labels map[string]string) bool {
	return labels[labelVariant] == "canary" || labels[labelVariant] == "baseline"
}

// ports are those that carry TCP; there are none without pods behind the service.
func ports(s *service) []servicePort {
	if s.Spec.Type == "ExternalName" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Spec.Ports), func(p servicePort) bool {
		return p.Protocol != "" && p.Protocol != protocolTCP
	})
}

// findPort takes the first service that has the wanted port.
func findPort(services []*service, r Request) (found, error) {
	wanted := r.Port
	if name, port, named := strings.Cut(r.Port, ":"); named {
		wanted = port
		services = slices.DeleteFunc(slices.Clone(services), func(s *service) bool { return s.Name != name })
		if len(services) == 0 {
			return found{}, fmt.Errorf("%s has no service %q; leave --port out to see the ones it has", r.Name, name)
		}
	}
	var known []string
	for _, s := range services {
		for _, p := range ports(s) {
			known = append(known, portName(s.Name, p.Name, p.Port))
			if wanted == "" || wanted == p.Name || wanted == strconv.Itoa(int(p.Port)) {
				return foundPort(services, s, p), nil
			}
		}
	}
	return found{}, fmt.Errorf("no service of %s has the port %q; choose one with --port: %s", r.Name, wanted,
		strings.Join(known, ", "))
}

func foundPort(services []*service, s *service, p servicePort) found {
	f := found{
		source: "Service " + s.Namespace + "/" + s.Name, port: p.Name,
		scheme: schemeOf(value(p.AppProtocol), p.Name, p.Port), watcher: watchService(s, p.Name),
		published: publishedAt(s.Annotations, p.Port), simulated: s.Annotations[simulatedAnnotation] == "true",
	}
	if p.Name == "" {
		f.port = strconv.Itoa(int(p.Port))
	}
	for _, other := range services {
		for _, o := range ports(other) {
			if other != s || o.Port != p.Port {
				f.others = append(f.others, portName(other.Name, o.Name, o.Port))
			}
		}
	}
	return f
}

// portName is how a port is asked for.
func portName(service, name string, number int32) string {
	if name == "" {
		name = strconv.Itoa(int(number))
	}
	return service + ":" + name
}

// scheme is what a URL begins with.
type scheme string

const (
	schemeHTTP  scheme = "http"
	schemeHTTPS scheme = "https"
	schemeNone  scheme = ""
)

// schemeOf reports what a port speaks: by its appProtocol, else its name, else its number.
func schemeOf(appProtocol, name string, number int32) scheme {
	protocol := strings.TrimPrefix(strings.ToLower(appProtocol), "kubernetes.io/")
	if protocol == "" {
		// "http-admin" is a usual name.
		protocol, _, _ = strings.Cut(strings.ToLower(name), "-")
	}
	switch protocol {
	case "http", "web", "ws":
		return schemeHTTP
	case "https", "wss":
		return schemeHTTPS
	case "":
		switch number {
		case 80, 8080:
			return schemeHTTP
		case 443, 8443:
			return schemeHTTPS
		}
	}
	return schemeNone
}
