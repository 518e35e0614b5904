// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"fmt"
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Environment returns the variables by which a program in the namespace finds its Services and the API server, as
// Kubernetes names them: WEB_SERVICE_HOST, WEB_SERVICE_PORT, WEB_SERVICE_PORT_HTTP, WEB_PORT, WEB_PORT_80_TCP and more.
// Their values are the listeners' addresses, which may have other ports than the Services. Listeners that are missing
// are opened. A Service that has none, as a headless one, has no variables.
func (p *Proxy) Environment(namespace string) map[string]string {
	variables := map[string]string{}
	if host, port, err := net.SplitHostPort(p.config.APIServer); err == nil {
		addService(variables, "KUBERNETES", host, []target{{name: "https", number: 443, port: port}})
	}
	if !cache.WaitForCacheSync(p.ctx.Done(), p.synced...) {
		return variables
	}
	services, err := p.services.Services(namespace).List(labels.Everything())
	if err != nil {
		klog.FromContext(p.ctx).Error(err, "List Services for environment variables", "namespace", namespace)
		return variables
	}
	for _, service := range services {
		name := types.NamespacedName{Namespace: namespace, Name: service.Name}
		addresses := p.open(service, name).addresses()
		var targets []target
		host := ""
		for _, port := range service.Spec.Ports {
			address, open := addresses[port.Port]
			if !open {
				continue
			}
			var number string
			host, number, _ = net.SplitHostPort(address)
			targets = append(targets, target{name: port.Name, number: port.Port, port: number})
		}
		if len(targets) > 0 {
			addService(variables, variableName(service.Name), host, targets)
		}
	}
	return variables
}

// target is a port of a Service and the port of its listener.
type target struct {
	name   string
	number int32
	port   string
}

// addService adds the variables of one Service. Those with a number in their names have the Service's own number there.
func addService(variables map[string]string, name, host string, targets []target) {
	first := targets[0]
	variables[name+"_SERVICE_HOST"] = host
	variables[name+"_SERVICE_PORT"] = first.port
	variables[name+"_PORT"] = "tcp://" + net.JoinHostPort(host, first.port)
	for _, t := range targets {
		if t.name != "" {
			variables[name+"_SERVICE_PORT_"+variableName(t.name)] = t.port
		}
		prefix := fmt.Sprintf("%s_PORT_%d_TCP", name, t.number)
		variables[prefix] = "tcp://" + net.JoinHostPort(host, t.port)
		variables[prefix+"_PROTO"] = strings.ToLower(string(corev1.ProtocolTCP))
		variables[prefix+"_PORT"] = t.port
		variables[prefix+"_ADDR"] = host
	}
}

// variableName is how Kubernetes writes a name in an environment variable.
func variableName(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }
