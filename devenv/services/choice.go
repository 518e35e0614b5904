// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Choice is the port of a Service that is meant.
type Choice struct {
	Service *Service
	Port    Port
	// Others are further ports that could have been meant, as "SERVICE:PORT".
	Others []string
}

// Choose takes a port of an application's Services: "SERVICE:PORT", a name or number, or the first for none. The
// Service named like the application goes first, then by name; those of canaries and baselines count only where there
// is nothing else. False when no Service leads to pods.
func Choose(all []*Service, application, wanted string) (Choice, bool, error) {
	services := preferred(all, application)
	if len(services) == 0 {
		return Choice{}, false, nil
	}
	number := wanted
	if name, port, named := strings.Cut(wanted, ":"); named {
		number = port
		services = slices.DeleteFunc(slices.Clone(services), func(s *Service) bool { return s.Name != name })
		if len(services) == 0 {
			return Choice{}, true,
				fmt.Errorf("%s has no service %q; leave --port out to see the ones it has", application, name)
		}
	}
	var known []string
	for _, s := range services {
		for _, p := range s.ports() {
			known = append(known, s.Name+":"+p.name())
			if number == "" || number == p.Name || number == strconv.Itoa(int(p.Port)) {
				return Choice{s, p, others(services, s, p)}, true, nil
			}
		}
	}
	return Choice{}, true, fmt.Errorf("no service of %s has the port %q; choose one with --port: %s", application,
		number, strings.Join(known, ", "))
}

func others(services []*Service, chosen *Service, port Port) (list []string) {
	for _, s := range services {
		for _, p := range s.ports() {
			if s != chosen || p.Port != port.Port {
				list = append(list, s.Name+":"+p.name())
			}
		}
	}
	return list
}

// preferred are the Services that lead to pods, in the order in which they are meant.
func preferred(all []*Service, application string) []*Service {
	services := slices.DeleteFunc(slices.Clone(all), func(s *Service) bool { return len(s.ports()) == 0 })
	primary := slices.DeleteFunc(slices.Clone(services), func(s *Service) bool { return s.IsVariant() })
	if len(primary) > 0 {
		services = primary
	}
	slices.SortFunc(services, func(a, b *Service) int { return a.Before(&b.Meta, application) })
	return services
}

// ports are those that carry TCP; there are none without pods behind the Service.
func (s *Service) ports() []Port {
	if s.Spec.Type == "ExternalName" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Spec.Ports), func(p Port) bool {
		return p.Protocol != "" && p.Protocol != protocolTCP
	})
}

// Source names the Service: "Service default/web".
func (c Choice) Source() string { return "Service " + c.Service.Namespace + "/" + c.Service.Name }

// PortName is the port's name, or its number where it has none.
func (c Choice) PortName() string { return c.Port.name() }

func (p Port) name() string {
	if p.Name == "" {
		return strconv.Itoa(int(p.Port))
	}
	return p.Name
}

// Scheme is what the port speaks.
func (p Port) Scheme() Scheme {
	appProtocol := ""
	if p.AppProtocol != nil {
		appProtocol = *p.AppProtocol
	}
	return SchemeOf(appProtocol, p.Name, p.Port)
}

// published is where the port answers on this machine, as host:port; empty where the cluster does not say.
func (s *Service) published(p Port) string { return s.addresses()[strconv.Itoa(int(p.Port))] }

// Scheme is what a URL begins with.
type Scheme string

// The schemes.
const (
	HTTP  Scheme = "http"
	HTTPS Scheme = "https"
	// None is for what URLs have no scheme for, or for which none is known.
	None Scheme = ""
)

// URL is the address with the scheme in front; that of None is the address alone.
func (s Scheme) URL(address string) string {
	if s == None {
		return address
	}
	return string(s) + "://" + address
}

// SchemeOf reports what a port speaks: by its appProtocol, else its name, else its number.
func SchemeOf(appProtocol, name string, number int32) Scheme {
	protocol := strings.TrimPrefix(strings.ToLower(appProtocol), "kubernetes.io/")
	if protocol == "" {
		// "http-admin" is a usual name.
		protocol, _, _ = strings.Cut(strings.ToLower(name), "-")
	}
	switch protocol {
	case "http", "web", "ws":
		return HTTP
	case "https", "wss":
		return HTTPS
	case "":
		switch number {
		case 80, 8080:
			return HTTP
		case 443, 8443:
			return HTTPS
		}
	}
	return None
}
