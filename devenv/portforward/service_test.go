// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const owned = "pipecd.dev/application: app-1"

func TestTheServiceAndPortThatAreMeant(t *testing.T) {
	t.Parallel()
	service := func(name, more, ports string) string {
		return fmt.Sprintf(
			"{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: default, labels: {%s%s}}, spec: {ports: "+
				"[%s]}}",
			name, owned, more, ports,
		)
	}
	web := service("web", "", httpPort+", {name: admin, port: 81, appProtocol: https}")
	canary := service("a-canary", ", pipecd.dev/variant: canary", httpPort)
	for name, c := range map[string]struct {
		services []string
		port     string
		is       string
	}{
		"the first port":   {[]string{web}, "", "Service default/web http http"},
		"a port by name":   {[]string{web}, "admin", "Service default/web admin https"},
		"a port by number": {[]string{web}, "81", "Service default/web admin https"},
		"the service like the application": {[]string{service("a", "", httpPort), web}, "",
			"Service default/web http http"},
		"else by name": {[]string{service("shop", "", httpPort),
			service("cart", "", httpPort)}, "", "Service default/cart http http"},
		"a service by name": {[]string{web, service("db", "", "{name: sql, port: 5432}")}, "db:sql",
			"Service default/db sql "},
		"the service that has the port": {[]string{web, service("db", "", "{name: sql, port: 5432}")}, "5432",
			"Service default/db sql "},
		"no canary where there is another": {[]string{canary, service("b", "", httpPort)}, "",
			"Service default/b http http"},
		"a canary where there is nothing else": {[]string{canary}, "", "Service default/a-canary http http"},
		"no UDP": {[]string{service("web", "",
			"{name: dns, port: 53, protocol: UDP}, "+httpPort)}, "", "Service default/web http http"},
		"a port without a name": {[]string{service("web", "", "{port: 8080}")}, "",
			"Service default/web 8080 http"},
		"no port of that name": {[]string{web}, "metrics",
			`no service of web has the port "metrics"; choose one with --port: web:http, web:admin`},
		"no service of that name": {[]string{web}, "db:sql",
			`web has no service "db"; leave --port out to see the ones it has`},
		"nothing": {nil, "",
			"nothing of web that could be reached is in cluster dev yet; deploy it with: pipedeck sync web"},
		"services outside of the cluster alone": {
			[]string{
				"{apiVersion: v1, kind: Service, metadata: {name: x, namespace: default, labels: {" + owned +
					"}}, spec: {type: ExternalName, externalName: example.com, ports: [" + httpPort + "]}}",
			},
			"", "nothing of web that could be reached is in cluster dev yet; deploy it with: pipedeck sync web",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, testLimits)
			p.create(
				serviceResource,
				"{apiVersion: v1, kind: Service, metadata: {name: other, namespace: default, labels: "+
					"{pipecd.dev/application: app-2}}, spec: {ports: ["+httpPort+"]}}",
			)
			for _, s := range c.services {
				p.create(serviceResource, s)
			}
			f, err := p.cluster.find(t.Context(),
				Request{Cluster: "dev", ApplicationID: "app-1", Name: "web", Port: c.port})
			if err != nil {
				require.Equal(t, c.is, err.Error())
				return
			}
			require.Equal(t, c.is, fmt.Sprintf("%s %s %s", f.source, f.port, f.scheme))
		})
	}
}

func TestWithoutAServiceThePodsOfTheWorkloadAreMeant(t *testing.T) {
	t.Parallel()
	deployment := func(name, ports string) string {
		return fmt.Sprintf(
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: default, labels: {%s}}, spec: "+
				"{selector: {matchLabels: {app: x}}, template: {spec: {containers: [{name: c, ports: [%s]}]}}}}",
			name, owned, ports,
		)
	}
	for name, c := range map[string]struct{ ports, port, is string }{
		"the first port": {"{name: web, containerPort: 3000}", "", "Deployment default/web web http"},
		"a port by number": {"{name: web, containerPort: 3000}, {containerPort: 9}", "9",
			"Deployment default/web 9 "},
		"a port that is not given": {"", "8080", "Deployment default/web 8080 http"},
		"none": {"", "",
			"web has neither a service nor a container port; name one with --port NUMBER"},
		"an unknown name": {"{name: web, containerPort: 3000}", "sql",
			`no container of web has the port "sql"; choose one with --port: web`},
		"a number beyond ports": {"", "65536",
			"web has neither a service nor a container port; name one with --port NUMBER"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, testLimits)
			p.create(workloadResources[0], deployment("web", c.ports))
			p.create(workloadResources[0], deployment("a", "{name: other, containerPort: 1}"))
			f, err := p.cluster.find(t.Context(),
				Request{Cluster: "dev", ApplicationID: "app-1", Name: "web", Port: c.port})
			if err != nil {
				require.Equal(t, c.is, err.Error())
				return
			}
			require.Equal(t, c.is, fmt.Sprintf("%s %s %s", f.source, f.port, f.scheme))
		})
	}
}

func TestANamedPortMayDifferBetweenVersions(t *testing.T) {
	t.Parallel()
	port := portOf(containerPort{Name: "http", ContainerPort: 8080})
	for text, number := range map[string]int32{
		"{containers: [{ports: [{name: http, containerPort: 9090}]}]}": 9090,
		"{containers: [{ports: [{containerPort: 1}]}]}":                8080,
	} {
		var p podObject
		require.NoError(t, yaml.Unmarshal([]byte(text), &p.Spec))
		require.Equal(t, number, port(&p))
	}
}

func TestOnlyConnectionsThatWereNeverMadeMayBeMadeAgain(t *testing.T) {
	t.Parallel()
	const inNamespace = `failed to execute portforward in network namespace "/var/run/netns/x": `
	for failure, is := range map[string]bool{
		inNamespace + `failed to connect to localhost:8080 inside namespace "y", IPv4: ` +
			`dial tcp4 127.0.0.1:8080: connect: connection refused`: true,
		`E connect(5, AF=2 127.0.0.1:8080, 16): Connection refused`:                                  true,
		`failed to find sandbox "x" in store: not found`:                                             true,
		inNamespace + `writeto tcp4 127.0.0.1:43306->127.0.0.1:8080: read: connection reset by peer`: false,
		"": false,
	} {
		require.Equal(t, is, undelivered(failure), failure)
	}
}
