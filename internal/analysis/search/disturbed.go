package search

// Disturber is who took CPU beside what is measured; 0: nobody. Several are
// joined by |.
type Disturber uint8

const (
	Neighbour  Disturber = 1 << iota // other processes of this host
	Hypervisor                       // what this host runs on: stolen time
)

// String names the disturbers, as in "… took CPU".
func (d Disturber) String() string {
	switch d {
	case 0:
		return "nobody"
	case Neighbour:
		return "a neighbour"
	case Hypervisor:
		return "the hypervisor"
	}
	return "a neighbour or the hypervisor"
}

// advice says what to do about them. A neighbour can be stopped; what the
// hypervisor gives to other machines cannot.
func (d Disturber) advice() string {
	switch d {
	case Neighbour:
		return "stop it and search again"
	case Hypervisor:
		return "search again where it takes less"
	}
	return "stop the one, and search again where the other takes less"
}
