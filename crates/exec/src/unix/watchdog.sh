# Outlives omp by a moment: when the pipe on standard input closes, everything omp has started is killed.
# $1 is the mark that all of omp's children carry, $2 a pattern for the tag of those that are contained (Linux). Lines read:
#   !               children are about to start
#   +GROUP, -GROUP  a group runs, has ended
#   /FOLDER         removed at the end with all it holds
#   =/FOLDER        removed at the end if it is empty
#   ~/FOLDER        what was said last of it holds no more
trap '' HUP INT QUIT TERM PIPE
set -f
groups=' '
started=0
newline='
'
folders=$newline
while IFS= read -r line; do
    case $line in
        !) started=1 ;;
        +*) groups="$groups${line#+} "; started=1 ;;
        -*) case $groups in *" ${line#-} "*) groups="${groups%%" ${line#-} "*} ${groups#*" ${line#-} "}" ;; esac ;;
        /*|=/*) folders="$folders$line$newline" ;;
        '~'*)
            for line in "${line#?}" "=${line#?}"; do
                case $folders in *"$newline$line$newline"*)
                    rest=${folders#*"$newline$line$newline"}
                    folders=${folders%%"$newline$line$newline"*}$newline$rest ;;
                esac
            done ;;
    esac
done

# Prints "pid parent group" of every living process. Its name may hold anything, also what looks like the rest of the line:
# that only adds to what is said of itself.
processes() {
    if [ -r /proc/self/stat ]; then
        for line in $(set +f; grep -aosH ') [^XZ] [0-9]* [0-9]* ' /proc/[0-9]*/stat); do
            pid=${line#/proc/}
            line=${line#*) ? }
            echo "${pid%%/*} ${line% }"
        done
    else
        ps -axo pid=,ppid=,pgid= | while IFS=' ' read -r pid parent group; do echo "$pid $parent $group"; done
    fi
}

# Those who bear the mark, and those who have given up mark, group, session and parent but cannot give up the tag.
known() {
    if [ -r /proc/self/stat ]; then
        for file in $(set +f; grep -lsaE "OMP_SPAWN=$1-${2:+|$2}" /proc/[0-9]*/environ /proc/[0-9]*/projid_map); do
            file=${file#/proc/}
            echo "${file%%/*}"
        done
    else
        ps -axEww -o pid=,command= 2>/dev/null | grep -F "OMP_SPAWN=$1-" | grep -v grep |
            while IFS=' ' read -r pid rest; do echo "$pid"; done
    fi
}

# What was forked while the list was made shows up in the next round, and what becomes a program has no mark for a moment.
IFS=$newline
round=0
quiet=0
[ "$started" = 1 ] || round=50
while [ "$round" -lt 50 ]; do
    table=
    doomed=$newline$(known "$1" "$2")$newline
    # To read the table takes long, and without one of them nobody in it is meant.
    case $groups$doomed in *[0-9]*) table=$(processes); grown=1 ;; *) grown=0 ;; esac
    while [ "$grown" = 1 ]; do
        grown=0
        for line in $table; do
            pid=${line%% *}
            case $doomed in *"$newline$pid$newline"*) continue ;; esac
            parent=${line#* }; parent=${parent%% *}
            case $doomed in *"$newline$parent$newline"*) doomed=$doomed$pid$newline; grown=1; continue ;; esac
            case $groups in *" ${line##* } "*) doomed=$doomed$pid$newline; grown=1 ;; esac
        done
    done
    # Stopped first: a shell takes up its next command as soon as the one it waits for is dead.
    for pid in $doomed; do
        kill -STOP "$pid" 2>/dev/null
    done
    found=0
    for pid in $doomed; do
        kill -KILL "$pid" 2>/dev/null && found=1
    done
    # Without /proc and ps only the groups are known.
    if [ -z "$table" ]; then
        IFS=' '
        for group in $groups; do
            # dash takes no `--` behind `-KILL`.
            kill -s KILL -- "-$group" 2>/dev/null && found=1
        done
        IFS=$newline
    fi
    [ "$found" = 1 ] && quiet=0 || quiet=$((quiet + 1))
    [ "$quiet" -lt 2 ] || break
    round=$((round + 1))
    sleep 0.02 2>/dev/null
done

# What is to be empty comes last, as the others may lie in it.
for kind in / =; do
    for folder in $folders; do
        case $kind$folder in
            //*) rm -rf -- "$folder" ;;
            ==*) rmdir -- "${folder#=}" 2>/dev/null ;;
        esac
    done
done
exit 0
